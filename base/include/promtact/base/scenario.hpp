// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A run as plain data: what the simulator, the kernel runner and the checker agree on. Reading it
// from JSON is the simulation harness's job; nothing here parses or decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/fault.hpp>
#include <promtact/base/history.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/base/units.hpp>

namespace promtact {

/// What the fate of a message is a function of, besides seed, purpose and link.
enum class DecisionKey : std::uint8_t {
    time_and_ordinal, // send time and ordinal on the link at that time
    index,            // index on the link: what the kernel always uses
};

/// What clients do.
struct Workload {
    std::uint32_t clients = 1;
    std::uint32_t keys = 1;
    Ppm reads{}; // the rest are writes
    Step start{};
    Step end = end_of_run;
    friend bool operator==(const Workload&, const Workload&) = default;
};

/// What the run must show, besides breaking no invariant.
struct Expectation {
    std::vector<std::string> goals{}; // sentences of goals that must be reached
    std::optional<Digest128> trace{}; // the run's trace hash
    friend bool operator==(const Expectation&, const Expectation&) = default;
};

struct Scenario {
    std::string name{};
    std::uint64_t seed = 0;
    std::uint32_t nodes = 0;   // 1 .. nodes_max
    std::uint64_t steps = 0;   // at least 1
    std::uint64_t tick_ns = 0; // wall time of a step, required by the kernel runner; 0: not given
    DecisionKey key = DecisionKey::time_and_ordinal;
    Ppm drop{};
    Ticks max_delay{};
    Ppm duplicate{};
    Ticks propose_every{}; // 0: off
    Ticks restart_every{}; // 0: off
    std::optional<Workload> workload{};
    std::vector<Fault> faults{}; // in file order
    Expectation expect{};
};

} // namespace promtact
