// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include <promtact/base/loop_device.hpp>

#include "durable_write_block/gate.hpp"
#include "storage_support/storage_gate_test_internal.hpp"

namespace promtact::gates {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class DurableWriteBlockGate : public testing::StorageGate {};

TEST_F(DurableWriteBlockGate, PassesHereAndLeavesNothing) {
    const auto report = run(&run_durable_write_block, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_NE(report->summary, "");
    EXPECT_FALSE(report->parameters.empty());
    EXPECT_FALSE(report->measurements.empty());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(DurableWriteBlockGate, ItsControlFailsForTheInjectedReason) {
    const auto report = run(&run_durable_write_block, true);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, HasSubstr("flushes reached it"));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(DurableWriteBlockGate, LeavesNothingWhenKilledAtEachPoint) {
    PROMTACT_NEEDS_REPORT(run(&run_durable_write_block, false));
    kill_at_each_point(&run_durable_write_block);
}

TEST_F(DurableWriteBlockGate, LeavesNothingWhenKilledAtRandomTimes) {
    PROMTACT_NEEDS_REPORT(run(&run_durable_write_block, false));
    kill_at_random_times(&run_durable_write_block);
}

TEST_F(DurableWriteBlockGate, WithoutPrivilegeNamesTheCapability) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to drop it";
    fs::permissions(options_.directory, fs::perms::all);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
        const auto report = run(&run_durable_write_block, false);
        const bool named = !report && report.error().code == Errc::denied &&
                           report.error().context.find("CAP_SYS_ADMIN") != std::string::npos;
        ::_exit(named || (!report && report.error().code == Errc::unsupported) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(DurableWriteBlockGate, ANamedDeviceWithoutItsTypedConfirmationIsRefused) {
    options_.device = "/dev/null";
    const auto report = run(&run_durable_write_block, false);

    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, Errc::refused);
    EXPECT_THAT(report.error().context, HasSubstr("ERASE:/dev/null"));
}

TEST_F(DurableWriteBlockGate, WritesToADeviceTheOperatorNamed) {
    const std::uint64_t bytes = 8 << 20;
    auto loop = LoopDevice::create({.directory = options_.directory, .size_bytes = bytes});
    if (!loop) GTEST_SKIP() << "needs a loop device: " << loop.error().context;
    options_.device = loop->path();
    options_.confirm_destroy = "ERASE:" + loop->path();
    options_.expected_size = bytes;

    const auto report = run(&run_durable_write_block, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_TRUE(loop->remove());
    EXPECT_TRUE(nothing_is_left());
}

} // namespace
} // namespace promtact::gates
