// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "durable_write_file/gate.hpp"
#include "storage_support/storage_gate_test_internal.hpp"

namespace promtact::gates {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class DurableWriteFileGate : public testing::StorageGate {};

TEST_F(DurableWriteFileGate, PassesHereAndLeavesNothing) {
    const auto report = run(&run_durable_write_file, false);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    EXPECT_NE(report->summary, "");
    EXPECT_FALSE(report->parameters.empty());
    EXPECT_FALSE(report->measurements.empty());
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(DurableWriteFileGate, ItsControlFailsForTheInjectedReason) {
    const auto report = run(&run_durable_write_file, true);

    PROMTACT_NEEDS_REPORT(report);
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_THAT(report->reason, HasSubstr("flushes reached it"));
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(DurableWriteFileGate, LeavesNothingWhenKilledAtEachPoint) {
    PROMTACT_NEEDS_REPORT(run(&run_durable_write_file, false));
    kill_at_each_point(&run_durable_write_file);
}

TEST_F(DurableWriteFileGate, LeavesNothingWhenKilledAtRandomTimes) {
    PROMTACT_NEEDS_REPORT(run(&run_durable_write_file, false));
    kill_at_random_times(&run_durable_write_file);
}

TEST_F(DurableWriteFileGate, RunsUnprivileged) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to drop it";
    fs::permissions(options_.directory, fs::perms::all);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
        const auto report = run(&run_durable_write_file, false);
        if (report) ::_exit(report->verdict == Verdict::pass ? 0 : 1);
        std::fprintf(stderr, "%s\n", describe(report.error()).c_str());
        ::_exit(report.error().code == Errc::unsupported ? 77 : 2);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs a disk quiet enough to count flushes";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace promtact::gates
