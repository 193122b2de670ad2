// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the tests of all storage gates do: run the body and its sabotage, and kill it everywhere.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/base/error_text.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/mount_table.hpp>
#include <promtact/gates/gate.hpp>

#include "kill_sweep.hpp"
#include "temporary_directory.hpp"
#include "test_paths.hpp"

namespace promtact::gates::testing {

namespace fs = std::filesystem;

inline std::string first_line(const fs::path& path) {
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
}

class StorageGate : public ::testing::Test {
  protected:
    StorageGate() { options_.directory = temporary_.path(); }

    Result<GateReport> run(GateBody body, bool sabotaged) {
        steps_.clear();
        const GateContext context(
            options_, sabotaged, [&](std::string_view step) { steps_.emplace_back(step); });
        return body(context);
    }

    /// Files in the directory, loop devices bound to a file in it, and mounts: what may be left.
    [[nodiscard]] std::set<std::string> leftovers() const {
        std::set<std::string> found;
        for (const auto& entry : fs::directory_iterator(options_.directory))
            found.insert(entry.path().string());
        for (const auto& entry : fs::directory_iterator("/sys/block")) {
            std::error_code gone;
            const fs::path backing = entry.path() / "loop/backing_file";
            if (!fs::exists(backing, gone)) continue;
            const std::string text = first_line(backing);
            if (text.starts_with(options_.directory.string()))
                found.insert(entry.path().filename().string() + " " + text);
        }
        if (const auto mounts = read_mounts()) {
            for (const Mount& mount : *mounts) {
                if (mount.mount_point.starts_with(options_.directory.string()))
                    found.insert("mount " + mount.mount_point);
            }
        }
        return found;
    }

    /// True when nothing is left within two seconds; the kernel clears a loop device a moment after
    /// its last opener died.
    [[nodiscard]] bool nothing_is_left() const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (!leftovers().empty()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        return true;
    }

    enum class Ended : std::uint8_t { killed, before_the_point, otherwise };

    /// point: where the child is to be killed, 0 when nowhere in particular. A run that measures in
    /// rounds until it is sure may be shorter than the one before.
    template <class BeforeRun, class AfterFork>
    Ended killed(GateBody body, std::uint64_t point, BeforeRun before_run, AfterFork after_fork) {
        constexpr int before_the_point = 3;
        const pid_t child = ::fork();
        if (child == 0) {
            const std::uint64_t start = kill_points_passed();
            before_run();
            static_cast<void>(run(body, false));
            ::_exit(kill_points_passed() - start < point ? before_the_point : 0);
        }
        after_fork(child);
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return Ended::killed;
        const bool shorter = WIFEXITED(status) && WEXITSTATUS(status) == before_the_point;
        return shorter ? Ended::before_the_point : Ended::otherwise;
    }

    void kill_at_each_point(GateBody body) {
        const std::uint64_t before = kill_points_passed();
        ASSERT_TRUE(run(body, false));
        const std::uint64_t points = kill_points_passed() - before;
        EXPECT_GE(points, 20U);
        for (const std::uint64_t n : testing_support::kill_points_to_sweep(points)) {
            const Ended ended = killed(
                body, n, [&] { arm_kill_point(n); }, [](pid_t) {});
            EXPECT_NE(ended, Ended::otherwise) << "at point " << n;
            EXPECT_TRUE(ended == Ended::killed || n > 20) << "only " << n << " points";
            EXPECT_TRUE(nothing_is_left()) << *leftovers().begin() << " after point " << n;
        }
    }

    void kill_at_random_times(GateBody body) {
        const auto start = std::chrono::steady_clock::now();
        ASSERT_TRUE(run(body, false));
        const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::steady_clock::now() - start);
        constexpr std::uint64_t seed = 0x4A2C;
        std::uint64_t kills = 0;
        for (std::uint64_t i = 0; i < 50; ++i) {
            const auto bits = promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, i, 0);
            const auto after = std::chrono::microseconds(promtact_bounded(
                bits, static_cast<promtact_u32>(std::max<std::int64_t>(1, whole.count()))));
            const Ended ended = killed(
                body, 0, [] {},
                [&](pid_t child) {
                    std::this_thread::sleep_for(after);
                    ::kill(child, SIGKILL);
                });
            kills += ended == Ended::killed ? 1 : 0;
            EXPECT_TRUE(nothing_is_left()) << *leftovers().begin() << " in round " << i;
        }
        EXPECT_GE(kills, 6U) << "the rounds must hit the gate while it runs";
    }

    // Beside the binary, since /tmp may be in memory.
    test_support::TemporaryDirectory temporary_{promtact::test_build_path("")};
    GateOptions options_;
    std::vector<std::string> steps_;
};

/// Skips when the host lacks what the body needs; fails on any other error.
/// Evaluates the run once; skips, with the reason, where the host cannot answer.
#define PROMTACT_NEEDS_REPORT(report)                                                              \
    do {                                                                                           \
        const auto& needed = (report);                                                             \
        if (!needed &&                                                                             \
            (needed.error().code == Errc::unsupported || needed.error().code == Errc::denied)) {   \
            GTEST_SKIP() << "needs " << describe(needed.error());                                  \
        }                                                                                          \
        ASSERT_TRUE(needed) << describe(needed.error());                                           \
    } while (false)

} // namespace promtact::gates::testing
