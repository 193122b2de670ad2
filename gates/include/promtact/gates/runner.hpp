// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Runs gates: in order of what they require, needs first, then the negative control, then the
// body, each in a process of its own; one file per gate, one campaign per run.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/gates/gate.hpp>
#include <promtact/gates/record.hpp>

namespace promtact::gates {

/// Told what happens, while it happens. Called from the runner's thread.
class RunnerObserver {
  public:
    RunnerObserver() = default;
    RunnerObserver(const RunnerObserver&) = delete;
    RunnerObserver& operator=(const RunnerObserver&) = delete;
    virtual ~RunnerObserver() = default;
    /// phase: "control", "body"
    virtual void step(
        const GateInfo& gate, std::string_view phase, std::string_view what, std::size_t done,
        std::size_t total) = 0;
    virtual void finished(const GateRecord& record) = 0;
};

/// No quick campaign takes longer, ever: what is left of it bounds each body, and a gate that would
/// begin later ends in error.
inline constexpr std::chrono::minutes quick_campaign_max{3};

struct RunnerConfig {
    std::span<const GateEntry> catalog{};
    /// Ids to run; empty: every gate of the class. What they require is run, too.
    std::vector<std::string> selected{};
    GateClass gate_class = GateClass::quick;
    std::chrono::nanoseconds limit = quick_campaign_max; // for all gates together
    GateOptions options{}; // directory empty: a folder inside the campaign's temporary directory
    std::filesystem::path hosts{}; // results/hosts
    std::string host{};            // empty: default_host_name()
    RunRecord run{};               // commit, dirty, command and build; the rest is filled in
};

struct RunOutcome {
    std::filesystem::path campaign{};
    std::string host{};
    std::vector<GateRecord> records{}; // in run order
    int stopped_by = 0;                // signal that ended the run early; then nothing was written
};

/// The gates to run, in order. Errors: invalid_argument for a name the catalog lacks (lists those
/// it has). Requires: the catalog names each gate after the ones it requires
Result<std::vector<const GateEntry*>> plan_gates(
    std::span<const GateEntry> catalog, const std::vector<std::string>& selected,
    GateClass gate_class);

/// Runs the plan and writes the campaign. SIGINT, SIGTERM and SIGHUP end it cleanly: the running
/// body is killed, nothing stays behind. Errors: those of CampaignWriter and the directory.
Result<RunOutcome> run_gates(const RunnerConfig& config, RunnerObserver& observer);

/// What a gate needs and this host or process lacks: unsupported or denied with the thing named;
/// nothing when all is there. An unknown Kconfig value is not held against the host.
std::vector<Error> missing_needs(const GateInfo& info);

} // namespace promtact::gates
