// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a sweep found, made small.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include <promtact/base/clock.hpp>
#include <promtact/sim/shrink.hpp>
#include <promtact/sim/strategy.hpp>
#include <promtact/sim/sweep.hpp>

namespace promtact::sim {

/// For all failures that are tried together.
struct ShrinkBudget {
    std::uint64_t runs = 0; // 0: nothing is made small
    std::chrono::nanoseconds time{};
    std::function<bool()> interrupted{};
};

/// The failure of a seed, made small. Seeds that fail alike do not shrink alike: within the budget,
/// of which the first may use half, a few that come after it are tried, too, and the smallest is
/// returned; nothing when the first does not fail again.
std::optional<ShrinkReport> smallest_failure(
    const Protocol& protocol, const Scenario& scenario, const StrategyOptions& strategy,
    const SweepFailure& first, const ShrinkBudget& budget, const Clock& clock);

} // namespace promtact::sim
