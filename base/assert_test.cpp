// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdio>

#include <gtest/gtest.h>

#include <promtact/base/assert.hpp>

namespace promtact {
namespace {

class Where final : public RunCoordinate {
  public:
    explicit Where(int step) : step_(step) {}
    void describe(char* buffer, std::size_t size) const noexcept override {
        std::snprintf(buffer, size, "seed 0x4A2C step %d", step_);
    }

  private:
    int step_;
};

TEST(Assert, NamesTheConditionAndThePlace) {
    EXPECT_DEATH(PROMTACT_ASSERT(1 + 1 == 3), "assertion failed: 1 \\+ 1 == 3\n.*assert_test.cpp:");
    EXPECT_DEATH(PROMTACT_UNREACHABLE(), "assertion failed: unreachable");
}

TEST(Assert, PrintsTheInnermostRunCoordinate) {
    const Where outer(1);
    const ScopedRunCoordinate outer_scope(outer);
    {
        const Where inner(2);
        const ScopedRunCoordinate inner_scope(inner);
        EXPECT_DEATH(PROMTACT_ASSERT(false), "run: seed 0x4A2C step 2");
    }
    EXPECT_DEATH(PROMTACT_ASSERT(false), "run: seed 0x4A2C step 1");
}

TEST(Assert, WithoutARunThereIsNoCoordinate) {
    EXPECT_EXIT(
        {
            std::fclose(stdout);
            PROMTACT_ASSERT(false);
        },
        ::testing::KilledBySignal(SIGABRT), "in [A-Za-z]+\n$");
}

TEST(Assert, PassesWithoutEvaluatingTwice) {
    int evaluated = 0;
    PROMTACT_ASSERT(++evaluated == 1);
    EXPECT_EQ(evaluated, 1);
    PROMTACT_DEBUG_ASSERT(true);
}

TEST(Assert, WorksInConstantExpressions) {
    constexpr int value = [] {
        PROMTACT_ASSERT(2 > 1);
        return 7;
    }();
    static_assert(value == 7);
}

} // namespace
} // namespace promtact
