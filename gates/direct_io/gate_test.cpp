// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "direct_io/gate.hpp"
#include "storage_support/storage_gate_test_internal.hpp"

namespace promtact::gates {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class DirectIoGate : public testing::StorageGate {};

TEST_F(DirectIoGate, PassesHereAndLeavesNothing) {
    const auto report = run(&run_direct_io, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_NE(report->summary, "");
    EXPECT_FALSE(report->parameters.empty());
    EXPECT_FALSE(report->measurements.empty());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(DirectIoGate, ItsControlFailsForTheInjectedReason) {
    const auto report = run(&run_direct_io, true);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, HasSubstr("block 128 reads back differently"));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(DirectIoGate, LeavesNothingWhenKilledAtEachPoint) {
    PROMTACT_NEEDS_REPORT(run(&run_direct_io, false));
    kill_at_each_point(&run_direct_io);
}

TEST_F(DirectIoGate, LeavesNothingWhenKilledAtRandomTimes) {
    PROMTACT_NEEDS_REPORT(run(&run_direct_io, false));
    kill_at_random_times(&run_direct_io);
}

TEST_F(DirectIoGate, ATargetInMemoryIsUnsupportedByName) {
    options_.directory = "/dev/shm";
    const auto report = run(&run_direct_io, false);

    ASSERT_FALSE(report);
    if (report.error().code == Errc::not_found) GTEST_SKIP() << "needs /dev/shm";
    EXPECT_EQ(report.error().code, Errc::unsupported);
    EXPECT_THAT(report.error().context, HasSubstr("/dev/shm"));
}

TEST_F(DirectIoGate, AMissingDirectoryIsNamed) {
    const fs::path real = options_.directory;
    options_.directory = real / "absent";
    const auto report = run(&run_direct_io, false);
    options_.directory = real;

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::not_found);
    EXPECT_THAT(report.error().context, HasSubstr("absent"));
}

} // namespace
} // namespace promtact::gates
