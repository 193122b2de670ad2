// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One run as data: what the commands carry out, the shrinker makes smaller and a file keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <promtact/base/scenario.hpp>
#include <promtact/engine/fate_editors.hpp>
#include <promtact/engine/run_config.hpp>

namespace promtact::sim {

struct Case {
    Scenario scenario{};
    /// Ids of the scenario's faults, by which their choices are drawn; empty: 0, 1, 2, ...
    std::vector<std::uint32_t> fault_ids{};
    /// Client commands and restarts that do not happen, by their number from 1. The others keep
    /// theirs.
    std::set<std::uint64_t> without_commands{};
    std::set<std::uint64_t> without_restarts{};
    /// The first so many faults must strike, or the run is vacuous; drawn ones need not.
    std::size_t faults_due = ~std::size_t{0};
    /// When given, the fate of every message; what is not in it is boring. Else the seed decides.
    std::optional<engine::FateBook> fates{};
};

/// The part that the engine carries out.
inline engine::RunConfig config_of(const Case& run) {
    engine::RunConfig config = engine::config_of(run.scenario);
    config.fault_ids = run.fault_ids;
    return config;
}

} // namespace promtact::sim
