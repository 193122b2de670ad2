// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every order of messages between three nodes and two proposers, up to bounds.
#include <gtest/gtest.h>

#include "search.hpp"

namespace paxos {
namespace {

using promtact::engine::ExploreBounds;
using promtact::engine::Explorer;
using promtact::engine::ExploreReport;
using promtact::engine::Verdict;

ExploreReport explore(const Mutations& mutations, const ExploreBounds& bounds) {
    const Cluster start(3, mutations);
    Explorer<Cluster> explorer(start, bounds);
    prepare_search(explorer);
    return explorer.run();
}

TEST(PaxosExplore, EveryStateOfTwoProposersIsSafe) {
    const ExploreReport report = explore({}, {});
    EXPECT_EQ(report.verdict, Verdict::pass) << report.text;
    EXPECT_GT(report.distinct, 1000U);
    EXPECT_EQ(report.states, report.transitions + 1) << "the first is there without an action";
    EXPECT_EQ(report.frontier, 0U);
    EXPECT_GE(report.depth, 10U) << "both ballots from beginning to end";
    const ExploreReport again = explore({}, {});
    EXPECT_EQ(again.distinct, report.distinct);
    EXPECT_EQ(again.transitions, report.transitions);
    EXPECT_EQ(again.depth, report.depth);
}

// What each mistake needs, at least: no search with less finds it.
struct Reach {
    const char* name = "";
    Mutations mutations{};
    ExploreBounds bounds{};
    const char* property = "";
    std::size_t actions = 0; // of a shortest path
};

std::vector<Reach> in_reach() {
    return {
        {"x1",
         {.promise_not_durable = true},
         {.commands = 1, .crashes = 1},
         "promises are kept",
         2},
        {"x2", {.accepts_below_promise = true}, {.commands = 2}, "promises are kept", 7},
        {"x3",
         {.adopts_any_value = true},
         {.states = 3'000'000, .commands = 3},
         "at most one value is chosen",
         11},
        {"x4",
         {.ballots_start_anew = true},
         {.commands = 4, .crashes = 1},
         "ballots are unique",
         6},
        {"x6",
         {.counts_across_ballots = true},
         {.states = 3'000'000, .commands = 2, .timeouts = 1},
         "at most one value is chosen",
         10},
    };
}

TEST(PaxosExplore, EveryMistakeOfSafetyIsFoundByAShortestPath) {
    for (const Reach& reach : in_reach()) {
        const ExploreReport report = explore(reach.mutations, reach.bounds);
        ASSERT_EQ(report.verdict, Verdict::fail) << reach.name << ": " << report.text;
        EXPECT_EQ(report.property, reach.property) << reach.name;
        EXPECT_EQ(report.path.size(), reach.actions) << reach.name << ", " << report.distinct;
        EXPECT_EQ(report.path.size(), report.depth) << reach.name;
    }
}

TEST(PaxosExplore, ABudgetThatIsUsedUpIsNoPass) {
    const ExploreReport report = explore({}, {.states = 500});
    EXPECT_EQ(report.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(report.distinct, 500U);
    EXPECT_GT(report.frontier, 0U);
    EXPECT_EQ(report.text, "more than 500 states");
    const ExploreReport shallow = explore({}, {.depth = 5});
    EXPECT_EQ(shallow.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(shallow.depth, 5U);
    EXPECT_EQ(shallow.text, "nothing is broken within 5 actions");
}

TEST(PaxosExplore, CrashesLossesAndCopiesAreTakenToo) {
    const ExploreReport plain = explore({}, {.states = 200'000});
    const ExploreReport lossy = explore({}, {.states = 200'000, .losses = 1});
    EXPECT_GT(lossy.distinct, plain.distinct);
    EXPECT_NE(lossy.verdict, Verdict::fail);
}

} // namespace
} // namespace paxos
