// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "engine_equivalence/gate.hpp"

#include <string>

#include <promtact/engine/testing/equivalence.hpp>

namespace promtact::gates {
namespace {

constexpr std::string_view qualified[] = {"engine"};
constexpr std::uint64_t seeds_quick = 60; // of each shape
constexpr std::uint64_t seeds_full = 1000;

Measurement count(std::string name, std::string method, std::uint64_t value) {
    return {std::move(name), "count", std::move(method), Scalar{value}};
}

} // namespace

const GateInfo engine_equivalence_info{
    .id = "engine_equivalence",
    .tier = Tier::protocol,
    .title = "Simulation engine: the same runs as a second engine, step by step",
    .qualifies = qualified,
    .budget = std::chrono::seconds{5},
    .full_budget = std::chrono::minutes{10},
    .establishes = "over seven shapes of runs, with loss, delay, copies, cuts, crashes and "
                   "restarts, the engine "
                   "and a slow one with a queue searched from end to end have equal traces, equal "
                   "states of all "
                   "nodes and as much under way at every step",
    .does_not_establish = "anything about a protocol: both drive the same ring; nor about fates, "
                          "which both take from "
                          "the one decision function",
    .control = "another_seed",
    .control_breaks = "the second engine is given the next seed; their traces must differ",
    .remedy = "run the test EngineEquivalence with the shape and seed of the reason"};

Result<GateReport> run_engine_equivalence(const GateContext& context) {
    using engine::testing::first_difference;
    const std::uint64_t seeds = context.quick() ? seeds_quick : seeds_full;
    GateReport report{.verdict = Verdict::pass};
    std::uint64_t runs = 0;
    std::uint64_t delivered = 0;
    for (const engine::testing::Shape& shape : engine::testing::shapes()) {
        context.step(shape.name);
        const bool chance = shape.drop_ppm > 0 || shape.max_delay > 0;
        for (std::uint64_t n = 0; n < seeds && report.reason.empty(); ++n, ++runs) {
            const std::uint64_t seed = context.options().seed + n;
            const std::uint64_t other = context.sabotaged() && chance ? seed + 1 : seed;
            const auto difference = first_difference(shape, seed, other, delivered);
            if (difference) report.reason = *difference;
        }
    }
    context.step("judge");
    report.parameters = {
        {"seeds_per_shape", seeds}, {"sample", std::string(to_string(context.options().sample))}};
    report.measurements = {
        count("runs", "each by both engines", runs),
        count("delivered", "messages on which they agreed", delivered)};
    if (report.reason.empty() && delivered < runs * 100)
        report.reason = "only " + std::to_string(delivered) + " messages were delivered";
    if (!report.reason.empty()) {
        report.verdict = Verdict::fail;
        return report;
    }
    report.summary = std::to_string(runs) + " runs, " + std::to_string(delivered) +
                     " deliveries: equal at every step";
    return report;
}

} // namespace promtact::gates
