// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/choice.h>

#include "run.hpp"

namespace paxos {
namespace {

using promtact::Fault;
using promtact::FaultKind;
using promtact::Ppm;
using promtact::Step;
using promtact::engine::RunConfig;
using promtact::engine::Verdict;

std::string explain(const RunResult& result) {
    return result.stop ? std::string(to_string(result.stop->verdict)) + ": " + result.stop->text
                       : "no stop";
}

TEST(Paxos, AQuietClusterChooses) {
    const RunResult result = run({.steps = 100, .propose_every = 0});
    EXPECT_FALSE(result.stop) << explain(result);
    EXPECT_EQ(result.chosen, Value{100});
}

TEST(Paxos, CompetingProposersStaySafe) {
    std::uint64_t adoptions = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const RunResult result =
            run({.config = {.seed = seed, .drop = Ppm(40'000), .max_delay = {4}}});
        ASSERT_FALSE(result.stop) << "seed " << seed << ", " << explain(result);
        EXPECT_TRUE(result.chosen) << "seed " << seed;
        adoptions += result.adoptions;
    }
    EXPECT_GT(adoptions, 0U);
}

TEST(Paxos, AMinorityCannotChoose) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        RunConfig config{.seed = seed, .max_delay = {3}};
        config.faults = {Fault{
            .kind = FaultKind::split,
            .start = Step(0),
            .end = Step(400),
            .a = {NodeId(1), NodeId(2)},
            .b = {NodeId(3), NodeId(4), NodeId(5)}}};
        const RunResult result = run({.steps = 1000, .config = config});
        ASSERT_FALSE(result.stop) << "seed " << seed << ", " << explain(result);
        EXPECT_GT(result.fault_counts[0], 0U);
        ASSERT_TRUE(result.chosen);
        EXPECT_NE(*result.chosen, Value{100}) << "node 1's own value, from the minority";
    }
}

TEST(Paxos, ARunIsReproducible) {
    const RunOptions options{.config = {.seed = 77, .drop = Ppm(80'000), .max_delay = {6}}};
    EXPECT_EQ(run(options).trace, run(options).trace);
}

TEST(Paxos, CrashesLoseNothingThatWasPromised) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        RunConfig config{.seed = seed, .drop = Ppm(40'000), .max_delay = {6}};
        for (std::uint32_t n = 0; n < 12; ++n) {
            const std::uint64_t at = 20 + promtact_choose(seed, PROMTACT_PURPOSE_CRASH, n, 0) % 400;
            config.faults.push_back(
                {.kind = FaultKind::crash,
                 .start = Step(at),
                 .end = Step(at + 1 + promtact_choose(seed, PROMTACT_PURPOSE_CRASH, n, 1) % 30),
                 .a = {NodeId(1 + n % 5)}});
        }
        const RunResult result = run({.steps = 1500, .config = config});
        ASSERT_FALSE(result.stop) << "seed " << seed << ", " << explain(result);
    }
}

// T9: where nothing goes wrong for good, no bound on progress is called broken.
TEST(Paxos, T9ABoundHoldsWithoutFaults) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const RunResult result = run(
            {.steps = 2500,
             .propose_every = 11,
             .config = {.seed = seed, .drop = Ppm(50'000), .max_delay = {12}}});
        ASSERT_FALSE(result.stop) << "seed " << seed << ", " << explain(result);
        EXPECT_TRUE(result.chosen) << "seed " << seed;
    }
}

// T2: an oracle that always holds would let one pass. Each mistake is found by the property that is
// there for it, in the conditions that bring it out.
struct Mutant {
    const char* name = "";
    Mutations mutations{};
    const char* property = "";
    std::uint32_t nodes = 5;
    std::uint64_t propose_every = 11;
    RunConfig config{.drop = Ppm(100'000), .max_delay = {12}};
    bool crashes = true;
};

std::vector<Mutant> mutants() {
    RunConfig constant_latency;
    constant_latency.faults = {
        {.kind = FaultKind::delay, .params = promtact::DelayParams{.base = {.count = 3}}}};
    return {
        {"X1", {.promise_not_durable = true}, "promises are kept"},
        {"X2", {.accepts_below_promise = true}, "promises are kept"},
        {"X3", {.adopts_any_value = true}, "at most one value is chosen"},
        {"X4", {.ballots_start_anew = true}, "ballots are unique"},
        {"forgets", {.forgets_accepted = true}, "promises are kept"},
        {"invents", {.invents_value = true}, "values were proposed"},
        {.name = "X6",
         .mutations = {.counts_across_ballots = true},
         .property = "at most one value is chosen",
         .nodes = 3,
         .config = {.drop = Ppm(50'000), .max_delay = {40}}},
        {.name = "X8",
         .mutations = {.no_back_off = true},
         .property = "a value is chosen",
         .config = constant_latency,
         .crashes = false},
    };
}

RunResult run_mutant(const Mutant& mutant, const Mutations& mutations, std::uint64_t seed) {
    RunConfig config = mutant.config;
    config.seed = seed;
    for (std::uint32_t n = 0; n < 6 && mutant.crashes; ++n) {
        const std::uint64_t at = 20 + promtact_choose(seed, PROMTACT_PURPOSE_CRASH, n, 0) % 400;
        config.faults.push_back(
            {.kind = FaultKind::crash,
             .start = Step(at),
             .end = Step(at + 3),
             .a = {NodeId(1 + n % mutant.nodes)}});
    }
    return run(
        {.nodes = mutant.nodes,
         .steps = 2500,
         .propose_every = mutant.propose_every,
         .mutations = mutations,
         .config = config});
}

TEST(Paxos, T2EveryMutantIsFoundByItsProperty) {
    for (const Mutant& mutant : mutants()) {
        std::string found;
        std::uint64_t seed = 0;
        while (found.empty() && ++seed <= 5000) {
            const RunResult result = run_mutant(mutant, mutant.mutations, seed);
            if (result.stop && result.stop->violation) found = result.stop->violation->property;
        }
        EXPECT_EQ(found, mutant.property) << mutant.name << ", seed " << seed;
        RecordProperty(mutant.name, std::to_string(seed));
        const RunResult control = run_mutant(mutant, {}, seed);
        EXPECT_FALSE(control.stop)
            << mutant.name << ", seed " << seed << " without it: " << explain(control);
    }
}

} // namespace
} // namespace paxos
