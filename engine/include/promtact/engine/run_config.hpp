// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <promtact/base/fault.hpp>
#include <promtact/base/scenario.hpp>
#include <promtact/base/units.hpp>

namespace promtact::engine {

/// What a run is a function of, besides the cluster.
struct RunConfig {
    std::uint64_t seed = 0;
    DecisionKey key = DecisionKey::time_and_ordinal;
    Ppm drop{};                // every message by itself
    Ticks max_delay{};         // uniform in 0 .. max_delay steps
    Ppm duplicate{};           // a copy that travels on its own
    std::uint64_t tick_ns = 0; // wall time of a step; needed by faults that say wall time
    std::vector<Fault> faults{};
    /// Ids of the faults, by which their choices are drawn and they are reported; empty: 0, 1, 2,
    /// ... The shrinker leaves faults out without renaming the others.
    std::vector<std::uint32_t> fault_ids{};

    /// A message is stopped by a cut that is there when it arrives, too, not only when it is sent.
    bool cut_at_arrival = true;
    /// Invariants are looked at after every delivery, too.
    bool check_each_delivery = false;
    /// False: failures go on until the end of the run, caused by whoever drives it, so that bounds
    /// on progress mean nothing.
    bool heals = true;
    /// Deliveries within one step before the run is called stuck.
    std::uint64_t cascade_max = 1'000'000;
    /// Messages under way before it is called stuck.
    std::size_t under_way_max = std::size_t{1} << 22;
    /// Events kept for reports.
    std::size_t recent_events = 64;

    [[nodiscard]] std::uint32_t fault_id(std::size_t index) const noexcept {
        return fault_ids.empty() ? static_cast<std::uint32_t>(index) : fault_ids[index];
    }
};

/// The part of a scenario that the engine carries out.
inline RunConfig config_of(const Scenario& scenario) {
    return {
        .seed = scenario.seed,
        .key = scenario.key,
        .drop = scenario.drop,
        .max_delay = scenario.max_delay,
        .duplicate = scenario.duplicate,
        .tick_ns = scenario.tick_ns,
        .faults = scenario.faults,
        .heals = scenario.restart_every.value == 0};
}

} // namespace promtact::engine
