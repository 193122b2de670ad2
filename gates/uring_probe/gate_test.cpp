// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "storage_support/storage_gate_test_internal.hpp"
#include "uring_probe/gate.hpp"

namespace promtact::gates {
namespace {

using ::testing::HasSubstr;

class UringProbeGate : public testing::StorageGate {};

TEST_F(UringProbeGate, PassesHereAndLeavesNothing) {
    const auto report = run(&run_uring_probe, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_NE(report->summary, "");
    EXPECT_FALSE(report->parameters.empty());
    EXPECT_FALSE(report->measurements.empty());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(UringProbeGate, ItsControlFailsForTheInjectedReason) {
    const auto report = run(&run_uring_probe, true);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, HasSubstr("write a registered buffer"));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(UringProbeGate, LeavesNothingWhenKilledAtEachPoint) {
    PROMTACT_NEEDS_REPORT(run(&run_uring_probe, false));
    kill_at_each_point(&run_uring_probe);
}

TEST_F(UringProbeGate, LeavesNothingWhenKilledAtRandomTimes) {
    PROMTACT_NEEDS_REPORT(run(&run_uring_probe, false));
    kill_at_random_times(&run_uring_probe);
}

TEST_F(UringProbeGate, RecordsEveryRingModeAndEveryFeature) {
    const auto report = run(&run_uring_probe, false);

    PROMTACT_NEEDS_REPORT(report);
    const auto has = [&](std::string_view name) {
        return std::any_of(
            report->parameters.begin(), report->parameters.end(),
            [&](const Parameter& p) { return p.name == name; });
    };
    EXPECT_TRUE(has("ring_mode_plain"));
    EXPECT_TRUE(has("ring_mode_deferred"));
    EXPECT_TRUE(has("ring_mode_cooperative"));
    EXPECT_GT(report->parameters.size(), 20U);
}

} // namespace
} // namespace promtact::gates
