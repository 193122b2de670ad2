// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Many seeds of one scenario, in as many processes as there are cores.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/sim/recording.hpp>
#include <promtact/sim/strategy.hpp>

namespace promtact::sim {

/// A part of a sweep that is spread over several machines: seeds first + n * of + index.
struct Shard {
    std::uint64_t index = 0; // 0 .. of - 1
    std::uint64_t of = 1;
    friend bool operator==(const Shard&, const Shard&) = default;
};

/// A seed that failed.
struct SweepFailure {
    std::uint64_t seed = 0;
    Outcome outcome{};
    bool ended_process = false; // by a signal: it cannot be shrunk
    std::string case_text{};    // a recording, where the seed alone does not lead to the run
};

struct SweepTotals {
    std::uint64_t seeds = 0;
    std::uint64_t steps = 0;
    std::uint64_t deliveries = 0;
    std::uint64_t twins = 0;
    std::array<std::uint64_t, engine::all_verdicts.size()> verdicts{};
    std::vector<std::uint64_t> faults{}; // how often each fault of the scenario struck
    std::vector<engine::Goals::Goal> goals{};
};

/// What a sweep found; several of one scenario can be put together.
struct SweepReport {
    std::string protocol{};
    Scenario scenario{};
    std::string strategy{};
    std::uint32_t strategy_faults = 0;
    std::uint64_t first = 1;
    Shard shard{};
    std::uint64_t done = 0; // seeds of this shard, without a gap
    std::chrono::nanoseconds wall{};
    SweepTotals totals{};
    std::vector<SweepFailure> failures{}; // by seed; the first failures_max
    std::vector<Shard> merged{};          // of which shards it is made; empty: of its own

    /// fail, stuck or error as the first failure; vacuous when a fault of the scenario never struck
    /// or a goal was never reached over all seeds; else pass.
    [[nodiscard]] engine::Verdict verdict() const;
    [[nodiscard]] std::string text() const;
};
inline constexpr std::size_t failures_max = 100;

struct SweepOptions {
    StrategyOptions strategy{};
    std::uint64_t first = 1;
    std::uint64_t seeds = 1000; // of all shards; 0: until the time is over
    std::chrono::nanoseconds time{};
    std::uint32_t jobs = 1;
    Shard shard{};
    std::uint64_t twin_every = 16; // every so many seeds are run twice and compared; 0: none
    /// Of wall time, for one seed: a run that takes longer is stuck. 0: no limit.
    std::uint32_t seed_seconds = 60;
    bool keep_going = false; // after a failure
    /// Told now and then. fn(seeds done, seeds to do or 0)
    std::function<void(std::uint64_t, std::uint64_t)> progress{};
    /// When given, all workers pause together every so often and this is told what is done.
    std::function<void(const SweepReport&)> checkpoint{};
    std::chrono::nanoseconds checkpoint_every{std::chrono::seconds(10)};
    /// True: end as soon as all runs under way are over.
    std::function<bool()> interrupted{};
};

/// Requires: protocol.problems() finds none in the scenario. Errors: what fork(2), pipe(2) and
/// mmap(2) answer
Result<SweepReport> sweep(
    const Protocol& protocol, const Scenario& scenario, const SweepOptions& options,
    const SweepReport* resumed = nullptr);

/// As the text of a file; load_sweep() is its inverse.
std::string write_sweep(const SweepReport& report);
/// Errors: format, not_found, io
Result<SweepReport> load_sweep(const std::filesystem::path& path);
/// Errors: invalid_argument when they are not parts of one sweep
Result<SweepReport> merge(const std::vector<SweepReport>& reports);

} // namespace promtact::sim
