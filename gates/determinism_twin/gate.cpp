// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "determinism_twin/gate.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <promtact/sim/protocol.hpp>
#include <promtact/sim/strategy.hpp>
#include <promtact/sim/twin.hpp>

#include <paxos/cluster.hpp>

namespace promtact::gates {
namespace {

constexpr std::string_view qualified[] = {"engine", "harness"};
constexpr std::uint64_t seeds_quick = 60;
constexpr std::uint64_t seeds_full = 2000;

Scenario scenario() {
    return {
        .name = "determinism_twin",
        .nodes = 5,
        .steps = 800,
        .drop = Ppm(50'000),
        .max_delay = {8},
        .duplicate = Ppm(20'000),
        .propose_every = {11}};
}

/// Paxos; sabotaged, its proposers ask the wall clock for their values.
sim::Protocol paxos_protocol(bool sabotaged) {
    using Parts = sim::Parts<paxos::Cluster>;
    Parts parts;
    parts.make = [](const Scenario& scenario) {
        return std::make_unique<paxos::Cluster>(scenario.nodes);
    };
    parts.propose = [sabotaged](Parts::Engine& engine, paxos::Cluster& cluster, std::uint64_t n) {
        const auto ids = std::as_const(cluster).nodes();
        const NodeId proposer = ids[static_cast<std::size_t>((n - 1) % ids.size())];
        std::uint64_t value = n;
        if (sabotaged) {
            value = static_cast<std::uint64_t>(
                std::chrono::steady_clock::now().time_since_epoch().count());
        }
        if (engine.up(proposer)) cluster.at(proposer).propose(value);
    };
    return sim::protocol<paxos::Cluster>("paxos", std::move(parts));
}

} // namespace

const GateInfo determinism_twin_info{
    .id = "determinism_twin",
    .tier = Tier::protocol,
    .title = "Simulation: a seed is one run, on any heap",
    .qualifies = qualified,
    .budget = std::chrono::seconds{5},
    .full_budget = std::chrono::minutes{10},
    .establishes =
        "runs of a protocol under drawn faults, made twice in one process on differently shuffled "
        "and filled memory, have the same events in the same order",
    .does_not_establish =
        "that other protocols are deterministic: sweep and --twin look at those; nor that runs are "
        "equal on another kind of machine: golden traces are tests",
    .control = "wall_clock",
    .control_breaks = "proposers take their values from the wall clock; the first event that "
                      "differs must be named",
    .remedy = "run the seed of the reason with promtact simulate --twin and report the event"};

Result<GateReport> run_determinism_twin(const GateContext& context) {
    const std::uint64_t seeds = context.quick() ? seeds_quick : seeds_full;
    const sim::Protocol protocol = paxos_protocol(context.sabotaged());
    const sim::StrategyOptions strategy{.kind = sim::StrategyKind::swarm, .faults = 4};
    GateReport report{.verdict = Verdict::pass};
    std::uint64_t runs = 0;
    std::uint64_t events = 0;
    context.step("runs");
    for (; runs < seeds && report.reason.empty(); ++runs) {
        const std::uint64_t seed = context.options().seed + runs;
        const sim::Planned planned = plan(strategy, scenario(), protocol.abilities, seed);
        const sim::TwinReport twins = run_twice(protocol, planned.run);
        events += twins.report.end.event;
        if (twins.divergence)
            report.reason = "seed " + std::to_string(seed) + ": " + twins.divergence->text;
    }
    context.step("judge");
    report.parameters = {
        {"seeds", seeds}, {"sample", std::string(to_string(context.options().sample))}};
    report.measurements = {
        {"runs", "count", "each twice", Scalar{runs}},
        {"events", "count", "compared one by one", Scalar{events}}};
    if (report.reason.empty() && events < runs * 100)
        report.reason = "only " + std::to_string(events) + " events were compared";
    if (!report.reason.empty()) {
        report.verdict = Verdict::fail;
        return report;
    }
    report.summary =
        std::to_string(runs) + " runs twice, " + std::to_string(events) + " events: the same";
    return report;
}

} // namespace promtact::gates
