// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test support: runs a body in a child process and kills it with SIGKILL at a chosen kill point or
// after a chosen time, so that a test can look at what is left.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/kill_point.hpp>

namespace promtact::testing_support {

enum class ChildEnd : std::uint8_t { killed, finished, failed };

inline ChildEnd wait_for(pid_t child) {
    int status = 0;
    const pid_t waited = ::waitpid(child, &status, 0);
    PROMTACT_ASSERT(waited == child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return ChildEnd::killed;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ChildEnd::finished : ChildEnd::failed;
}

/// Runs body, which returns true when all went well, in a child that dies at the n-th kill point it
/// passes; 0 lets it finish.
template <class Body>
ChildEnd run_killed_at(std::uint64_t n, Body&& body) {
    const pid_t child = ::fork();
    PROMTACT_ASSERT(child >= 0);
    if (child == 0) {
        arm_kill_point(n);
        ::_exit(body() ? 0 : 1);
    }
    return wait_for(child);
}

/// Which of an undisturbed run's kill points to kill at: all when they are few; of a loop's many
/// alike ones a spread. Set-up and tear-down do the unlike things: the first and the last quarter
/// of the sweep go point by point.
inline std::vector<std::uint64_t> kill_points_to_sweep(std::uint64_t points) {
    constexpr std::uint64_t swept_max = 32;
    const std::uint64_t swept = std::min(points, swept_max);
    const std::uint64_t quarter = swept / 4;
    std::vector<std::uint64_t> sweep;
    for (std::uint64_t i = 0; i < swept; ++i) {
        if (i < quarter) {
            sweep.push_back(i + 1);
        } else if (i >= swept - quarter) {
            sweep.push_back(points - (swept - 1 - i));
        } else {
            const std::uint64_t between = points - 2 * quarter;
            sweep.push_back(quarter + 1 + (i - quarter) * between / (swept - 2 * quarter));
        }
    }
    return sweep;
}

/// The same as run_killed_at, killed from outside after a time.
template <class Body>
ChildEnd run_killed_after(std::chrono::microseconds time, Body&& body) {
    const pid_t child = ::fork();
    PROMTACT_ASSERT(child >= 0);
    if (child == 0) ::_exit(body() ? 0 : 1);
    std::this_thread::sleep_for(time);
    const int sent = ::kill(child, SIGKILL);
    PROMTACT_ASSERT(sent == 0);
    return wait_for(child);
}

/// How many kill points an undisturbed run of body passes; 0 when it does not go well.
template <class Body>
std::uint64_t count_kill_points(Body&& body) {
    int ends[2] = {-1, -1};
    const int made = ::pipe(ends);
    PROMTACT_ASSERT(made == 0);
    const pid_t child = ::fork();
    PROMTACT_ASSERT(child >= 0);
    if (child == 0) {
        const std::uint64_t before = kill_points_passed();
        const bool went_well = body();
        const std::uint64_t passed = went_well ? kill_points_passed() - before : 0;
        ::_exit(::write(ends[1], &passed, sizeof passed) == sizeof passed ? 0 : 1);
    }
    std::uint64_t passed = 0;
    static_cast<void>(::close(ends[1]));
    const ssize_t got = ::read(ends[0], &passed, sizeof passed);
    static_cast<void>(::close(ends[0]));
    const ChildEnd end = wait_for(child);
    return end == ChildEnd::finished && got == sizeof passed ? passed : 0;
}

} // namespace promtact::testing_support
