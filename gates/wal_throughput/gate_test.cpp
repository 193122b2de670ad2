// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whether the share is reached here and now is for the gate to say, on a machine that does nothing
// else; a test run shares it.
#include <gmock/gmock.h>

#include "storage_support/storage_gate_test_internal.hpp"
#include "wal_throughput/gate.hpp"

namespace promtact::gates {
namespace {

using ::testing::HasSubstr;

class WalThroughputGate : public testing::StorageGate {};

TEST_F(WalThroughputGate, MeasuresEveryRowAndLeavesNothing) {
    const auto report = run(&run_wal_throughput, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->measurements.size(), 9U);
    EXPECT_EQ(report->verdict == Verdict::pass, report->reason.empty());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(WalThroughputGate, ItsControlFailsForTheInjectedReason) {
    const auto report = run(&run_wal_throughput, true);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, HasSubstr("of the ceiling"));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(WalThroughputGate, LeavesNothingWhenKilledAtEachPoint) {
    PROMTACT_NEEDS_REPORT(run(&run_wal_throughput, false));
    kill_at_each_point(&run_wal_throughput);
}

} // namespace
} // namespace promtact::gates
