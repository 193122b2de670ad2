// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "determinism_twin/gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

TEST(DeterminismTwinGate, PassesAndSaysHowMuchWasCompared) {
    const auto report = testing_gates::run_body(&run_determinism_twin);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_THAT(report->summary, ::testing::HasSubstr("60 runs"));
}

TEST(DeterminismTwinGate, ItsControlFailsForTheInjectedReason) {
    const auto report = testing_gates::run_body(&run_determinism_twin, true);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, ::testing::HasSubstr("two runs of one seed differ"));
}

TEST(DeterminismTwinGate, IsComplete) {
    testing_gates::expect_complete(determinism_twin_info);
}

} // namespace
} // namespace promtact::gates
