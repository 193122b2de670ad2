// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdlib>

#include <gtest/gtest.h>

#include <promtact/wal/testing/crash_harness.hpp>

namespace promtact::wal::testing {
namespace {

TEST(WalCrashImages, NoneIsRefusedNoneLosesWhatWasAcknowledged) {
    CrashTally sum;
    for (std::uint64_t number = 0; number < 40; ++number) {
        const Workload workload = generated_workload(number);
        CrashHarness harness(
            workload, {.crash = {.exhaustive_max = 10, .random = 32}, .images_max = 1500});

        const CrashTally& tally = harness.run();

        ASSERT_EQ(tally.failures(), 0U) << tally.first_failure;
        EXPECT_GT(tally.distinct, 20U) << workload.name;
        sum += tally;
    }
    RecordProperty("images", std::to_string(sum.distinct));
    // A run that never got there would prove nothing.
    EXPECT_GT(sum.torn, 100U);
    EXPECT_GT(sum.second, 100U);
    EXPECT_GT(sum.rotations, 40U);
    EXPECT_GT(sum.recycled, 5U);
    EXPECT_GT(sum.released, 5U);
}

} // namespace
} // namespace promtact::wal::testing
