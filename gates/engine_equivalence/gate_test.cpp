// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_equivalence/gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

TEST(EngineEquivalenceGate, PassesAndSaysHowMuchAgreed) {
    const auto report = testing_gates::run_body(&run_engine_equivalence);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_THAT(report->summary, ::testing::HasSubstr("420 runs"));
}

TEST(EngineEquivalenceGate, ItsControlFailsForTheInjectedReason) {
    const auto report = testing_gates::run_body(&run_engine_equivalence, true);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, ::testing::HasSubstr("traces differ"));
}

TEST(EngineEquivalenceGate, IsComplete) {
    testing_gates::expect_complete(engine_equivalence_info);
}

} // namespace
} // namespace promtact::gates
