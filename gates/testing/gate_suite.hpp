// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test support shared by gates: run a body or its control, and kill it at every kill point and at
// random times to see that nothing remains. What "nothing" means is a text the test provides.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/base/error_text.hpp>
#include <promtact/gates/gate.hpp>

#include "kill_sweep.hpp"

namespace promtact::gates::testing_gates {

/// What exists on the host now, as a canonical text.
using Snapshot = std::function<std::string()>;

inline constexpr std::uint64_t kill_points_least = 20;
inline constexpr std::uint64_t kill_points_most = 40; // of more, evenly chosen ones are tried
inline constexpr std::uint64_t random_kills = 50;
inline constexpr std::uint64_t at_once = 5; // children killed together; each stands for itself
inline constexpr std::chrono::seconds gone_within{2};

inline Result<GateReport> run_body(GateBody body, bool sabotaged = false) {
    const GateOptions options;
    return body(GateContext{options, sabotaged, {}});
}

/// Whether the body passed, or is not supported here; says why not.
inline bool went_well(GateBody body) {
    const Result<GateReport> report = run_body(body);
    const bool well =
        report ? report->verdict == Verdict::pass : report.error().code == Errc::unsupported;
    if (!well) {
        std::fprintf(
            stderr, "the body did not pass: %s\n",
            report ? report->reason.c_str() : describe(report.error()).c_str());
    }
    return well;
}

/// The snapshot once it equals wanted, or as it is after two seconds.
inline std::string settled(const Snapshot& snapshot, const std::string& wanted) {
    const auto deadline = std::chrono::steady_clock::now() + gone_within;
    for (;;) {
        std::string now = snapshot();
        if (now == wanted || std::chrono::steady_clock::now() > deadline) return now;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

/// The snapshot once the kernel has freed what the test before this one made, which it does some
/// time after the last descriptor is closed; or as it is after two seconds.
inline std::string at_rest(const Snapshot& snapshot) {
    const auto deadline = std::chrono::steady_clock::now() + gone_within;
    for (;;) {
        std::string now = snapshot();
        if (now.find("promtact") == std::string::npos ||
            std::chrono::steady_clock::now() > deadline)
            return now;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

inline void expect_nothing_left_at_any_kill_point(GateBody body, const Snapshot& snapshot) {
    const std::string before = at_rest(snapshot);
    const std::uint64_t points =
        testing_support::count_kill_points([&] { return went_well(body); });
    ASSERT_GE(points, kill_points_least);
    for (const std::uint64_t n : testing_support::kill_points_to_sweep(points)) {
        auto end = testing_support::run_killed_at(n, [&] { return went_well(body); });
        // On a busy machine a body may answer no before it reaches the point: once more.
        for (int again = 0; again < 3 && end == testing_support::ChildEnd::failed; ++again)
            end = testing_support::run_killed_at(n, [&] { return went_well(body); });
        EXPECT_EQ(end, testing_support::ChildEnd::killed) << "kill point " << n;
        EXPECT_EQ(settled(snapshot, before), before) << "kill point " << n << " of " << points;
    }
}

/// Times are drawn evenly over an undisturbed run, from a fixed seed.
inline void expect_nothing_left_at_random_times(GateBody body, const Snapshot& snapshot) {
    const std::string before = at_rest(snapshot);
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(
        testing_support::run_killed_at(0, [&] { return went_well(body); }),
        testing_support::ChildEnd::finished);
    const auto length = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - start);
    std::uint64_t killed = 0;
    for (std::uint64_t round = 0; round < random_kills / at_once; ++round) {
        std::array<std::thread, at_once> killers;
        std::array<testing_support::ChildEnd, at_once> ends{};
        for (std::uint64_t i = 0; i < at_once; ++i) {
            const std::uint32_t microseconds = promtact_bounded(
                promtact_choose(0x4A2C, PROMTACT_PURPOSE_CRASH, round, i),
                static_cast<std::uint32_t>(length.count()) + 1);
            killers[i] = std::thread{[&ends, i, microseconds, body] {
                ends[i] = testing_support::run_killed_after(
                    std::chrono::microseconds{microseconds}, [body] { return went_well(body); });
            }};
        }
        for (std::thread& killer : killers)
            killer.join();
        for (const testing_support::ChildEnd end : ends)
            killed += end == testing_support::ChildEnd::killed ? 1 : 0;
        EXPECT_EQ(settled(snapshot, before), before) << "round " << round;
    }
    // A busy machine may have stretched the undisturbed run that the times are drawn from.
    EXPECT_GT(killed, random_kills / 8) << "most children ended before they were killed";
}

/// As an ordinary user the body must say which capability it lacks.
inline void expect_denied(GateBody body, const std::string& capability) {
    const auto end = testing_support::run_killed_at(0, [&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return false;
        const Result<GateReport> report = run_body(body);
        return !report && report.error().code == Errc::denied &&
               report.error().context.find(capability) != std::string::npos;
    });
    EXPECT_EQ(end, testing_support::ChildEnd::finished);
}

/// Every text that people read and results store is there.
inline void expect_complete(const GateInfo& info) {
    for (const std::string_view text :
         {info.id, info.title, info.establishes, info.does_not_establish, info.control,
          info.control_breaks, info.remedy})
        EXPECT_FALSE(text.empty()) << info.id;
    EXPECT_FALSE(info.qualifies.empty());
    EXPECT_GT(info.budget.count(), 0);
}

} // namespace promtact::gates::testing_gates
