// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The storage ladder: one change per rung, so that each figure says what one decision costs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>

#include "bench/job.hpp"

namespace promtact::harness::bench {

/// A group of rungs that may be compared with each other.
struct Section {
    std::string name{};     // snake_case
    std::string title{};    // for people
    std::string question{}; // what the section answers
    std::vector<Job> jobs{};
};

/// Layouts, methods, ring modes, queue depths 1..64, blocks per flush 1..64.
std::vector<Section> storage_ladder();

struct RungResult {
    Job job{};
    JobResult total{};                          // all rounds merged
    std::vector<std::uint64_t> ops_per_round{}; // operations per second
    std::string failure{};                      // why this rung could not run; empty otherwise
};

struct SectionResult {
    Section section{};
    std::vector<RungResult> rungs{};
};

struct LadderOptions {
    std::filesystem::path directory{};
    std::uint32_t rounds = 3;
    JobLimits limits{};
    const DiskWatch* watch = nullptr;
    std::function<void(std::uint64_t done, std::uint64_t total, const std::string& what)>
        progress{};
};

/// Runs every rung once per round, round after round, so that a disturbance hits all rungs alike.
/// A rung this kernel or filesystem refuses (RWF_DSYNC, fallocate) is kept with its reason.
/// Errors: what makes every rung impossible (no O_DIRECT, no io_uring, no space).
Result<std::vector<SectionResult>>
run_ladder(const std::vector<Section>& sections, const LadderOptions& options);

} // namespace promtact::harness::bench
