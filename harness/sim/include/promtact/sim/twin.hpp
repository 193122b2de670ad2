// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The same run twice, side by side: what differs is not a function of the seed.
#pragma once

#include <optional>
#include <string>

#include <promtact/sim/event_log.hpp>
#include <promtact/sim/run.hpp>

namespace promtact::sim {

/// The first place where two runs of one case differ.
struct Divergence {
    Step step{};
    std::optional<ToldEvent> first{}; // nothing: that run had no further event in the step
    std::optional<ToldEvent> second{};
    std::string text{}; // in words
};

struct TwinReport {
    RunReport report{}; // of the first run
    std::optional<Divergence> divergence{};
};

/// Runs the case twice in lockstep and compares every event. Free memory is shuffled before each
/// run and filled with another byte before each step, so that addresses and bytes that were never
/// written differ between the two. A divergence makes the report an error.
TwinReport run_twice(const Protocol& protocol, const Case& run);

} // namespace promtact::sim
