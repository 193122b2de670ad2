// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/sim/run.hpp>

#include "protocol.hpp"

namespace multipaxos {
namespace {

using promtact::Fault;
using promtact::FaultKind;
using promtact::Ppm;
using promtact::Step;
using promtact::sim::Case;
using promtact::sim::RunReport;
using Verdict = promtact::engine::Verdict;

/// Clients ask a lossy cluster of which one node after the other is down for a while.
Case crashing(std::uint64_t seed) {
    Case run;
    run.scenario = {.name = "crashing", .seed = seed, .nodes = 3, .steps = 4000};
    run.scenario.drop = Ppm(100'000);
    run.scenario.max_delay = {6};
    run.scenario.workload = {.clients = 6, .keys = 2, .end = Step(2200)};
    for (std::uint32_t n = 0; n < 10; ++n) {
        const std::uint64_t at =
            100 + 200 * n + promtact_choose(seed, PROMTACT_PURPOSE_CRASH, n, 0) % 60;
        run.scenario.faults.push_back(
            {.kind = FaultKind::crash,
             .start = Step(at),
             .end = Step(at + 50),
             .a = {NodeId(1 + n % 3)}});
    }
    return run;
}

std::string explain(const RunReport& report) {
    return std::string(to_string(report.verdict)) + ": " + report.text;
}

TEST(MultiPaxos, ServesItsClientsInPeace) {
    Case run;
    run.scenario = {.name = "peace", .seed = 1, .nodes = 5, .steps = 1000};
    run.scenario.workload = {.clients = 4, .keys = 3};
    const RunReport report = run_case(protocol(), run);
    EXPECT_EQ(report.verdict, Verdict::pass) << explain(report);
    EXPECT_GT(report.clients.answered, 200U);
}

TEST(MultiPaxos, LosesNothingWhenLeadersCrash) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const RunReport report = run_case(protocol(), crashing(seed));
        ASSERT_EQ(report.verdict, Verdict::pass) << "seed " << seed << ", " << explain(report);
        EXPECT_GT(report.clients.answered, 20U) << "seed " << seed;
    }
}

/// The first property that some seed breaks.
std::string broken_by(const Mutations& mutations) {
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
        const RunReport report = run_case(protocol(mutations), crashing(seed));
        if (report.stop && report.stop->violation) return report.stop->violation->property;
    }
    return {};
}

TEST(MultiPaxos, X9AGapThatANewLeaderLeavesIsFound) {
    EXPECT_EQ(broken_by({.leaves_gaps = true}), "everybody applies what was chosen");
}

TEST(MultiPaxos, ALeaderThatForgetsWhatWasReportedIsFound) {
    EXPECT_EQ(broken_by({.forgets_reported = true}), "at most one command is chosen for a slot");
}

} // namespace
} // namespace multipaxos
