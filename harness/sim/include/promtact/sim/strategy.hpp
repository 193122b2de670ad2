// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// How a seed becomes a run: which faults are added to the scenario's own, and which messages are
// slow.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/engine/fate.hpp>
#include <promtact/sim/session.hpp>

namespace promtact::sim {

enum class StrategyKind : std::uint8_t {
    random, // the scenario, and faults drawn by weight
    swarm,  // the same, but each seed leaves out some kinds and has its own loss and delay
    pct,    // links have priorities, which change at a few steps of the run
    guided, // plans that led to states of a new shape are changed and run again; see guide.hpp
};
inline constexpr std::array all_strategies{
    StrategyKind::random, StrategyKind::swarm, StrategyKind::pct, StrategyKind::guided};
std::string_view to_string(StrategyKind kind) noexcept;
std::optional<StrategyKind> strategy_from(std::string_view word) noexcept;

/// How likely each kind of fault is drawn, in relation to the others.
struct FaultWeights {
    struct Weight {
        FaultKind kind = FaultKind::crash;
        std::uint32_t weight = 0;
    };
    std::vector<Weight> weights{};

    /// Rare but deep ones are not drowned by cheap ones: cuts and crashes weigh most.
    static FaultWeights usual();
    /// "crash=5,pause=1". Errors: invalid_argument
    static Result<FaultWeights> parse(std::string_view text);
};

struct StrategyOptions {
    StrategyKind kind = StrategyKind::random;
    std::uint32_t faults = 0; // drawn for each seed
    FaultWeights weights = FaultWeights::usual();
    std::uint32_t changes = 3; // pct: how often priorities change
};

/// A run that is ready to be carried out. It is a function of options, scenario and seed; of guided
/// it is what a search begins with.
struct Planned {
    Case run{};
    std::unique_ptr<engine::FateEditor> editor{}; // may be null
};
Planned plan(
    const StrategyOptions& options, const Scenario& scenario, const engine::Abilities& abilities,
    std::uint64_t seed);

} // namespace promtact::sim
