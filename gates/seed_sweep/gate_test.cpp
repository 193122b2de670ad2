// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "seed_sweep/gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

TEST(SeedSweepGate, PassesAndSaysHowMuchWasRun) {
    const auto report = testing_gates::run_body(&run_seed_sweep);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_THAT(report->summary, ::testing::HasSubstr("1000 seeds"));
}

TEST(SeedSweepGate, ItsControlFailsForTheInjectedReason) {
    const auto report = testing_gates::run_body(&run_seed_sweep, true);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, ::testing::HasSubstr("promises are kept"));
}

TEST(SeedSweepGate, IsComplete) {
    testing_gates::expect_complete(seed_sweep_info);
}

} // namespace
} // namespace promtact::gates
