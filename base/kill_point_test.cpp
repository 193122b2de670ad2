// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/kill_point.hpp>

namespace promtact {
namespace {

/// The signal that ended the child, 0 when it exited by itself with status 0, -1 otherwise.
int end_of(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return -1;
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    return WEXITSTATUS(status) == 0 ? 0 : -1;
}

template <class Body>
int run_in_child(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
        body();
        ::_exit(0);
    }
    return end_of(child);
}

TEST(KillPoint, KillsAtTheArmedPointAndNotBefore) {
    const auto pass = [](std::uint64_t armed, int points) {
        return [armed, points] {
            arm_kill_point(armed);
            for (int i = 0; i < points; ++i)
                kill_point();
        };
    };
    EXPECT_EQ(run_in_child(pass(3, 2)), 0);
    EXPECT_EQ(run_in_child(pass(3, 3)), SIGKILL);
    EXPECT_EQ(run_in_child(pass(1, 1)), SIGKILL);
    EXPECT_EQ(run_in_child(pass(0, 100)), 0);
}

TEST(KillPoint, CountsWhatWasPassedAndArmsFromThere) {
    const std::uint64_t before = kill_points_passed();
    kill_point();
    kill_point();
    EXPECT_EQ(kill_points_passed(), before + 2);

    EXPECT_EQ(
        run_in_child([] {
            arm_kill_point(1);
            arm_kill_point(0);
            kill_point();
        }),
        0);
}

/// Starts this test program again with PROMTACT_KILL_AT set, to pass three points.
int rerun_with(const char* value) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::setenv("PROMTACT_KILL_AT", value, 1);
        std::string program = "/proc/self/exe";
        std::string filter = "--gtest_filter=KillPoint.PassingUnarmedPointsIsHarmless";
        std::string brief = "--gtest_brief=1";
        const std::array<char*, 4> arguments{program.data(), filter.data(), brief.data(), nullptr};
        ::execv("/proc/self/exe", arguments.data());
        ::_exit(127);
    }
    return end_of(child);
}

// The next test runs this one in a process of its own, armed.
TEST(KillPoint, PassingUnarmedPointsIsHarmless) {
    const std::uint64_t before = kill_points_passed();
    for (int i = 0; i < 3; ++i)
        kill_point();
    EXPECT_EQ(kill_points_passed(), before + 3);
}

TEST(KillPoint, IsArmedFromTheEnvironment) {
    EXPECT_EQ(rerun_with("3"), SIGKILL);
    EXPECT_EQ(rerun_with("1"), SIGKILL);
    EXPECT_EQ(rerun_with("4"), 0);
    EXPECT_EQ(rerun_with("soon"), 0);
}

} // namespace
} // namespace promtact
