// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>

#include "bench/wal_recovery.hpp"
#include "temporary_directory.hpp"

namespace promtact::harness::bench {
namespace {

TEST(WalRecoveryBench, JudgesAndReadsTheSameLog) {
    const test_support::TemporaryDirectory where;
    const auto figures = measure_recovery(where.path() / "log", std::uint64_t{80} << 20, 2);
    if (!figures &&
        (figures.error().code == Errc::unsupported || figures.error().code == Errc::denied))
        GTEST_SKIP() << describe(figures.error());
    ASSERT_TRUE(figures) << describe(figures.error());
    EXPECT_GE(figures->log_bytes, std::uint64_t{80} << 20);
    ASSERT_EQ(figures->scan.size(), 2U);
    ASSERT_EQ(figures->read.size(), 2U);
    EXPECT_GT(figures->scan[0], 0U);
    EXPECT_GT(figures->read[0], 0U);
}

TEST(WalRecoveryBench, IsFastByItselfOrByItsDevice) {
    constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
    EXPECT_TRUE(recovers_fast({.scan = {gibibyte}, .read = {4 * gibibyte}}));
    EXPECT_FALSE(recovers_fast({.scan = {gibibyte - 1}, .read = {4 * gibibyte}}));
    EXPECT_TRUE(recovers_fast({.scan = {95}, .read = {100}}));
    EXPECT_FALSE(recovers_fast({.scan = {80}, .read = {100}}));
}

} // namespace
} // namespace promtact::harness::bench
