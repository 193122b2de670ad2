// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>

#include "bench/statistics.hpp"

namespace promtact::harness::bench {
namespace {

using Values = std::vector<std::uint64_t>;

TEST(BenchStatistics, MedianIsTheLowerMiddle) {
    EXPECT_EQ(median(Values{5}), 5U);
    EXPECT_EQ(median(Values{9, 1, 5}), 5U);
    EXPECT_EQ(median(Values{9, 1, 5, 7}), 5U);
}

TEST(BenchStatistics, EqualSidesGiveExactlyOne) {
    const Values values{100, 250, 999};
    const RatioInterval one{.low_ppm = 1'000'000, .point_ppm = 1'000'000, .high_ppm = 1'000'000};
    EXPECT_EQ(paired_ratio(values, values, 1), one);
}

TEST(BenchStatistics, TheMeanIsGeometric) {
    // 2 and 1/2 cancel out; an arithmetic mean would say 1.25.
    const RatioInterval ratio = paired_ratio(Values{200, 50}, Values{100, 100}, 1);
    EXPECT_EQ(ratio.point_ppm, 1'000'000U);
    EXPECT_EQ(ratio.low_ppm, 500'000U);
    EXPECT_EQ(ratio.high_ppm, 2'000'000U);
}

TEST(BenchStatistics, PairsAreKeptTogether) {
    // The machine slowed down by half midway: no single side is stable, every pair is.
    const Values ours{100, 100, 100, 50, 50, 50};
    const Values theirs{105, 105, 105, 52, 52, 53};
    const RatioInterval ratio = paired_ratio(ours, theirs, 7);
    EXPECT_GT(ratio.low_ppm, 940'000U);
    EXPECT_LT(ratio.high_ppm, 970'000U);
}

TEST(BenchStatistics, TheSameSeedGivesTheSameInterval) {
    const Values ours{90, 110, 97, 104, 101};
    const Values theirs{100, 100, 100, 100, 100};
    EXPECT_EQ(paired_ratio(ours, theirs, 3), paired_ratio(ours, theirs, 3));
    const RatioInterval few = paired_ratio(ours, theirs, 3, 20);
    EXPECT_NE(few, paired_ratio(ours, theirs, 4, 20)) << "the seed takes part";
}

TEST(BenchStatistics, TheIntervalCoversTheTruthAboutAsOftenAsItSays) {
    // 300 experiments of 10 pairs around a true ratio of 0.95, spread by the decision function.
    std::uint32_t covered = 0;
    for (std::uint64_t experiment = 0; experiment < 300; ++experiment) {
        Values ours;
        Values theirs;
        for (std::uint64_t pair = 0; pair < 10; ++pair) {
            const auto bits = promtact_choose(0x4A2C, PROMTACT_PURPOSE_DELAY, experiment, pair);
            theirs.push_back(100'000);
            ours.push_back(85'000 + promtact_bounded(bits, 20'001)); // 0.85 .. 1.05
        }
        const RatioInterval ratio = paired_ratio(ours, theirs, experiment, 1'000);
        if (ratio.low_ppm <= 949'000 && ratio.high_ppm >= 949'000) ++covered;
    }
    EXPECT_GE(covered, 300 * 85 / 100);
    EXPECT_LT(covered, 300) << "an interval that always covers says nothing";
}

} // namespace
} // namespace promtact::harness::bench
