// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "seed_sweep/gate.hpp"

#include <string>
#include <thread>

#include <promtact/base/numbers.hpp>
#include <promtact/sim/sweep.hpp>

#include <paxos/protocol.hpp>

namespace promtact::gates {
namespace {

constexpr std::string_view qualified[] = {"engine", "harness"};
constexpr std::uint64_t seeds_quick = 1000;
constexpr std::uint64_t seeds_full = 200'000;

Scenario scenario() {
    return {
        .name = "seed_sweep",
        .nodes = 5,
        .steps = 1500,
        .drop = Ppm(50'000),
        .max_delay = {10},
        .propose_every = {11}};
}

Measurement count(std::string name, std::string method, std::uint64_t value) {
    return {std::move(name), "count", std::move(method), Scalar{value}};
}

} // namespace

const GateInfo seed_sweep_info{
    .id = "seed_sweep",
    .tier = Tier::protocol,
    .title = "Simulation: many seeds on all cores break no property",
    .qualifies = qualified,
    .budget = std::chrono::seconds{10},
    .full_budget = std::chrono::minutes{20},
    .establishes =
        "Paxos with competing proposers keeps its promises, chooses one value and gets on after "
        "faults end, for every seed of the sweep, each with faults drawn for it",
    .does_not_establish = "anything about schedules that no seed of the sweep leads to",
    .control = "promise_not_durable",
    .control_breaks = "acceptors forget their promises in a crash; the sweep must find it",
    .remedy = "run promtact sweep with the seed of the reason, which makes the failure small"};

Result<GateReport> run_seed_sweep(const GateContext& context) {
    const std::uint64_t seeds = context.quick() ? seeds_quick : seeds_full;
    const sim::Protocol protocol = paxos::protocol({.promise_not_durable = context.sabotaged()});
    context.step("sweep");
    PROMTACT_TRY_ASSIGN(
        const sim::SweepReport found,
        sim::sweep(
            protocol, scenario(),
            {.strategy = {.kind = sim::StrategyKind::swarm, .faults = 4},
             .first = context.options().seed,
             .seeds = seeds,
             .jobs = std::max(1U, std::thread::hardware_concurrency())}));
    context.step("judge");
    GateReport report{.verdict = Verdict::pass};
    report.parameters = {
        {"seeds", seeds}, {"sample", std::string(to_string(context.options().sample))}};
    report.measurements = {
        count("seeds", "run", found.totals.seeds),
        count("steps", "of all seeds", found.totals.steps),
        count("deliveries", "of all seeds", found.totals.deliveries),
        count("twins", "seeds run twice and compared", found.totals.twins)};
    if (found.verdict() != engine::Verdict::pass) {
        report.verdict = Verdict::fail;
        report.reason = found.text();
        if (!found.failures.empty()) {
            report.reason =
                "seed " + format_seed(found.failures.front().seed) + ": " + found.text();
        }
        return report;
    }
    report.summary = std::to_string(found.totals.seeds) + " seeds, " +
                     std::to_string(found.totals.deliveries) + " deliveries: no property broken";
    return report;
}

} // namespace promtact::gates
