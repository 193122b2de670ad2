// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "storage_faults/gate.hpp"
#include "storage_support/storage_gate_test_internal.hpp"

namespace promtact::gates {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class StorageFaultsGate : public testing::StorageGate {};

TEST_F(StorageFaultsGate, PassesHereAndLeavesNothing) {
    const auto report = run(&run_storage_faults, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_NE(report->summary, "");
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(StorageFaultsGate, ItsControlFailsForTheInjectedReason) {
    const auto report = run(&run_storage_faults, true);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, StartsWith("write is short, position 0: "));
    EXPECT_THAT(report->reason, HasSubstr("the next opening is refused"));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(StorageFaultsGate, LeavesNothingWhenKilledAtEachPoint) {
    PROMTACT_NEEDS_REPORT(run(&run_storage_faults, false));
    kill_at_each_point(&run_storage_faults);
}

TEST_F(StorageFaultsGate, ATargetInMemoryIsUnsupportedByName) {
    options_.directory = "/dev/shm";
    const auto report = run(&run_storage_faults, false);

    ASSERT_FALSE(report);
    if (report.error().code == Errc::not_found) GTEST_SKIP() << "needs /dev/shm";
    EXPECT_EQ(report.error().code, Errc::unsupported);
    EXPECT_THAT(report.error().context, HasSubstr("/dev/shm"));
}

} // namespace
} // namespace promtact::gates
