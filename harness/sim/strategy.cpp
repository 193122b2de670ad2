// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/choice.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/sim/strategy.hpp>

#include "priority_editor_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::array<std::string_view, all_strategies.size()> strategy_names{
    "random", "swarm", "pct", "guided"};

// Kinds of choices; each has a stream of its own.
constexpr Purpose fault_purpose = user_purpose(1);
constexpr Purpose swarm_purpose = user_purpose(2);

/// Numbers drawn one after the other for one seed.
class Draws {
  public:
    Draws(std::uint64_t seed, Purpose purpose, std::uint64_t index)
        : stream_(seed, purpose, index) {}
    std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        return stream_.between({next_++}, low, high);
    }
    bool chance(std::uint64_t in, std::uint64_t of) { return between(1, of) <= in; }

  private:
    ChoiceStream stream_;
    std::uint64_t next_ = 0;
};

bool is_possible(FaultKind kind, const engine::Abilities& abilities) {
    const bool crash = kind == FaultKind::crash || kind == FaultKind::restart;
    return !is_kernel_only(kind) && kind != FaultKind::disk && kind != FaultKind::rate &&
           (!crash || abilities.crash);
}

FaultParams drawn_params(FaultKind kind, Draws& draws) {
    const auto probability = [&draws](std::uint64_t low, std::uint64_t high) {
        return Ppm(static_cast<std::uint32_t>(draws.between(low, high)));
    };
    const auto steps = [&draws](std::uint64_t low, std::uint64_t high) {
        return FaultDuration{.unit = FaultDuration::Unit::steps, .count = draws.between(low, high)};
    };
    switch (kind) {
    case FaultKind::loss:
        return LossParams{.probability = probability(50'000, 700'000)};
    case FaultKind::burst:
        return BurstParams{
            .enter_bad = probability(10'000, 200'000), .leave_bad = probability(50'000, 500'000)};
    case FaultKind::delay:
        return DelayParams{
            .base = steps(1, 20), .jitter = steps(0, 20), .shape = DelayShape::uniform};
    case FaultKind::reorder:
        return ReorderParams{
            .probability = probability(10'000, 300'000), .hold = steps(1, 30), .held_max = 4};
    case FaultKind::duplicate:
        return DuplicateParams{.probability = probability(10'000, 500'000)};
    case FaultKind::corrupt:
        return CorruptParams{.probability = probability(1'000, 100'000)};
    case FaultKind::flap:
        return FlapParams{.up = steps(1, 20), .down = steps(1, 20)};
    case FaultKind::clock:
        return ClockParams{
            .rate_ppm = static_cast<std::int32_t>(draws.between(0, 1'500'000)) - 500'000};
    default:
        return default_params(kind);
    }
}

/// Nodes 1..nodes in a drawn order.
std::vector<NodeId> drawn_order(std::uint32_t nodes, Draws& draws) {
    std::vector<NodeId> ids;
    for (std::uint32_t id = 1; id <= nodes; ++id)
        ids.push_back(NodeId(id));
    for (std::size_t left = ids.size(); left > 1; --left)
        std::swap(ids[left - 1], ids[static_cast<std::size_t>(draws.between(0, left - 1))]);
    return ids;
}

/// Faults end in the first four fifths of the run: the rest shows whether it recovers.
Fault drawn_fault(FaultKind kind, const Scenario& scenario, Draws& draws) {
    Fault fault{.kind = kind, .params = drawn_params(kind, draws)};
    const std::uint64_t last = std::max<std::uint64_t>(scenario.steps * 4 / 5, 2);
    const std::uint64_t longest = std::max<std::uint64_t>(last / 4, 1);
    fault.start = Step(draws.between(1, last - 1));
    // Short windows as often as long ones.
    const std::uint64_t bound = draws.chance(1, 2) ? std::min<std::uint64_t>(longest, 20) : longest;
    fault.end = std::min(fault.start + draws.between(1, bound), Step(last));
    const std::vector<NodeId> order = drawn_order(scenario.nodes, draws);
    const std::size_t few = std::max<std::size_t>(order.size() / 2, 1);
    const auto count = static_cast<std::ptrdiff_t>(draws.between(1, few));
    switch (kind) {
    case FaultKind::split:
        fault.a.assign(order.begin(), order.begin() + count);
        fault.b.assign(order.begin() + count, order.end());
        break;
    case FaultKind::link:
        fault.a = {order.front()};
        fault.b = {order.back()};
        break;
    case FaultKind::isolate:
    case FaultKind::crash:
    case FaultKind::restart:
    case FaultKind::pause:
    case FaultKind::clock:
        fault.a = {order.front()};
        break;
    default: // of links: everybody, or what goes to one node, or what comes from it
        if (draws.chance(1, 3)) fault.a = {order.front()};
        if (draws.chance(1, 3)) fault.b = {order.back()};
        break;
    }
    return fault;
}

void add_faults(
    Scenario& scenario, const FaultWeights& weights, const engine::Abilities& abilities,
    std::uint32_t count, std::uint64_t seed) {
    std::uint64_t sum = 0;
    for (const FaultWeights::Weight& one : weights.weights)
        if (is_possible(one.kind, abilities)) sum += one.weight;
    for (std::uint32_t n = 0; n < count && sum > 0; ++n) {
        Draws draws(seed, fault_purpose, n);
        std::uint64_t at = draws.between(0, sum - 1);
        for (const FaultWeights::Weight& one : weights.weights) {
            if (!is_possible(one.kind, abilities)) continue;
            if (at >= one.weight) {
                at -= one.weight;
                continue;
            }
            const bool needs_two = one.kind == FaultKind::split || one.kind == FaultKind::link;
            if (!needs_two || scenario.nodes >= 2)
                scenario.faults.push_back(drawn_fault(one.kind, scenario, draws));
            break;
        }
    }
}

/// Each seed has features of its own: some kinds of faults not at all, no or much loss, no or much
/// delay. Source: Groce and others, Swarm Testing, ISSTA 2012
FaultWeights swarmed(Scenario& scenario, const FaultWeights& weights, std::uint64_t seed) {
    Draws draws(seed, swarm_purpose, 0);
    if (draws.chance(1, 2))
        scenario.drop = Ppm(static_cast<std::uint32_t>(draws.between(0, 150'000)));
    if (draws.chance(1, 2)) scenario.max_delay = {draws.between(0, 40)};
    if (draws.chance(1, 2))
        scenario.duplicate = Ppm(static_cast<std::uint32_t>(draws.between(0, 100'000)));
    FaultWeights kept;
    for (const FaultWeights::Weight& one : weights.weights)
        if (draws.chance(1, 2)) kept.weights.push_back(one);
    return kept;
}

} // namespace

std::string_view to_string(StrategyKind kind) noexcept {
    return strategy_names[static_cast<std::size_t>(kind)];
}

std::optional<StrategyKind> strategy_from(std::string_view word) noexcept {
    for (const StrategyKind kind : all_strategies)
        if (to_string(kind) == word) return kind;
    return std::nullopt;
}

FaultWeights FaultWeights::usual() {
    return {
        .weights = {
            {FaultKind::crash, 6},
            {FaultKind::split, 6},
            {FaultKind::isolate, 4},
            {FaultKind::link, 4},
            {FaultKind::pause, 3},
            {FaultKind::delay, 3},
            {FaultKind::restart, 2},
            {FaultKind::reorder, 2},
            {FaultKind::duplicate, 2},
            {FaultKind::loss, 2},
            {FaultKind::burst, 1},
            {FaultKind::flap, 1},
            {FaultKind::clock, 1}}};
}

Result<FaultWeights> FaultWeights::parse(std::string_view text) {
    FaultWeights parsed;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        const std::size_t equals = one.find('=');
        const auto kind = fault_kind_from(one.substr(0, equals));
        if (equals == std::string_view::npos || !kind || is_kernel_only(*kind)) {
            return Error{
                Errc::invalid_argument, 0,
                "\"" + std::string(one) + "\" is no weight; write for example crash=5,pause=1"};
        }
        PROMTACT_TRY_ASSIGN(const std::uint64_t weight, parse_u64(one.substr(equals + 1)));
        if (weight > 1'000'000) return Error{Errc::out_of_range, 0, "a weight is at most 1000000"};
        parsed.weights.push_back({*kind, static_cast<std::uint32_t>(weight)});
    }
    return parsed;
}

Planned plan(
    const StrategyOptions& options, const Scenario& scenario, const engine::Abilities& abilities,
    std::uint64_t seed) {
    Planned planned{.run = {.scenario = scenario}};
    planned.run.scenario.seed = seed;
    planned.run.faults_due = scenario.faults.size();
    FaultWeights weights = options.weights;
    if (options.kind == StrategyKind::swarm || options.kind == StrategyKind::guided)
        weights = swarmed(planned.run.scenario, options.weights, seed);
    add_faults(planned.run.scenario, weights, abilities, options.faults, seed);
    if (options.kind == StrategyKind::pct) {
        planned.editor =
            std::make_unique<PriorityEditor>(seed, options.changes, scenario.steps, scenario.nodes);
    }
    return planned;
}

} // namespace promtact::sim
