// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/raft_sim/protocol.hpp>
#include <promtact/sim/run.hpp>

namespace promtact::raft_sim {
namespace {

std::string explain(const sim::RunReport& report) {
    return std::string(to_string(report.verdict)) + ": " + report.text;
}

TEST(RaftSim, ServesItsClientsInPeace) {
    sim::Case run;
    run.scenario = {.name = "peace", .seed = 1, .nodes = 5, .steps = 1000};
    run.scenario.workload = Workload{.clients = 4, .keys = 3};
    const sim::RunReport report = run_case(protocol(), run);
    EXPECT_EQ(report.verdict, engine::Verdict::pass) << explain(report);
    EXPECT_GT(report.clients.answered, 100U);
}

/// Everything at once for a while, then rest.
sim::Case stormy(std::uint64_t seed) {
    sim::Case run;
    run.scenario = {
        .name = "storm",
        .seed = seed,
        .nodes = 3 + 2 * static_cast<std::uint32_t>(seed % 3),
        .steps = 3000};
    run.scenario.drop = Ppm(50'000);
    run.scenario.max_delay = {8};
    run.scenario.duplicate = Ppm(20'000);
    run.scenario.workload = Workload{.clients = 16, .keys = 2, .end = Step(1800)};
    for (std::uint32_t n = 0; n < 12; ++n) {
        const auto draw = [seed, n](std::uint64_t at) {
            return promtact_choose(seed, PROMTACT_PURPOSE_CRASH, n, at);
        };
        const std::uint64_t start = 100 + draw(0) % 1500;
        const NodeId node(1 + static_cast<std::uint32_t>(draw(1) % run.scenario.nodes));
        run.scenario.faults.push_back(
            {.kind = n % 2 == 0 ? FaultKind::crash : FaultKind::isolate,
             .start = Step(start),
             .end = Step(start + 20 + draw(2) % 150),
             .a = {node}});
    }
    return run;
}

TEST(RaftSim, KeepsItsPromisesInAStorm) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const sim::RunReport report = run_case(protocol(), stormy(seed));
        ASSERT_EQ(report.verdict, engine::Verdict::pass)
            << "seed " << seed << ", " << explain(report);
    }
}

TEST(RaftSim, ASeedIsReproducible) {
    const sim::RunReport a = run_case(protocol(), stormy(7));
    const sim::RunReport b = run_case(protocol(), stormy(7));
    EXPECT_EQ(a.end.trace, b.end.trace);
    EXPECT_NE(a.end.trace, run_case(protocol(), stormy(8)).end.trace);
}

} // namespace
} // namespace promtact::raft_sim
