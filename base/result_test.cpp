// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/result.hpp>

namespace promtact {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return Error{Errc::invalid_argument, 0, "halve " + std::to_string(n)};
    return n / 2;
}

Result<int> quarter(int n) {
    PROMTACT_TRY_ASSIGN(const int once, half(n));
    return half(once);
}

TEST(Result, TryAssignPassesTheFirstErrorUp) {
    EXPECT_EQ(*quarter(12), 3);
    ASSERT_FALSE(quarter(6));
    EXPECT_EQ(quarter(6).error().context, "halve 3");
}

TEST(Result, TakingTheValueOfAnErrorAborts) {
    EXPECT_DEATH(static_cast<void>(half(1).value()), "assertion failed: has_value");
}

TEST(Result, DescribeNamesErrnoAndAttempt) {
    EXPECT_EQ(
        describe(Error::from_errno(EACCES, "open /x")), "open /x: permission denied (EACCES)");
    EXPECT_EQ(describe(Error{Errc::invalid_argument, 0, "seed"}), "seed: invalid argument");
}

} // namespace
} // namespace promtact
