// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every order of messages between three nodes and two proposers, up to bounds.
#include <gtest/gtest.h>

#include <promtact/engine/explore.hpp>

#include "cluster.hpp"

namespace paxos {
namespace {

using promtact::engine::Broken;
using promtact::engine::ExploreBounds;
using promtact::engine::Explorer;
using promtact::engine::ExploreReport;
using promtact::engine::Verdict;

/// Two values were accepted by a quorum each, in some ballots.
std::optional<Broken> two_values(const Cluster& cluster) {
    std::map<std::pair<Ballot, Value>, std::set<NodeId>> votes;
    for (const NodeId id : cluster.nodes()) {
        for (const Acceptance& one : cluster.at(id).acceptances())
            votes[{one.ballot, one.value}].insert(id);
    }
    std::set<Value> chosen;
    for (const auto& [vote, nodes] : votes)
        if (nodes.size() >= cluster.quorum()) chosen.insert(vote.second);
    chosen.merge(cluster.learned());
    if (chosen.size() < 2) return std::nullopt;
    return Broken{.text = std::to_string(chosen.size()) + " values are chosen", .key = "two"};
}

ExploreReport explore(const Mutations& mutations, const ExploreBounds& bounds) {
    const Cluster start(3, mutations);
    Explorer<Cluster> explorer(start, bounds);
    explorer.watch("at most one value is chosen", two_values);
    explorer.command([](Cluster& cluster) { cluster.at(NodeId(1)).propose(101); });
    explorer.command([](Cluster& cluster) { cluster.at(NodeId(2)).propose(102); });
    return explorer.run();
}

TEST(PaxosExplore, EveryStateOfTwoProposersIsSafe) {
    const ExploreReport report = explore({}, {});
    EXPECT_EQ(report.verdict, Verdict::pass) << report.broken.text;
    EXPECT_GT(report.states, 1000U);
    EXPECT_GT(report.transitions, report.states);
    EXPECT_GE(report.depth, 10U) << "both ballots from beginning to end";
    const ExploreReport again = explore({}, {});
    EXPECT_EQ(again.states, report.states);
    EXPECT_EQ(again.transitions, report.transitions);
}

TEST(PaxosExplore, AShortestPathLeadsToTheViolation) {
    const ExploreReport report = explore({.accepts_below_promise = true}, {});
    ASSERT_EQ(report.verdict, Verdict::fail);
    EXPECT_EQ(report.property, "at most one value is chosen");
    EXPECT_EQ(report.path.size(), report.depth + 1);
    EXPECT_LE(report.path.size(), 20U);
}

TEST(PaxosExplore, ABudgetThatIsUsedUpIsNoPass) {
    const ExploreReport report = explore({}, {.states = 500});
    EXPECT_EQ(report.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(report.states, 500U);
}

TEST(PaxosExplore, CrashesLossesAndCopiesAreTakenToo) {
    const ExploreReport plain = explore({}, {.states = 200'000});
    const ExploreReport lossy = explore({}, {.states = 200'000, .losses = 1});
    EXPECT_GT(lossy.states, plain.states);
    EXPECT_NE(lossy.verdict, Verdict::fail);
    const ExploreReport forgetful =
        explore({.promise_not_durable = true}, {.states = 2'000'000, .crashes = 1});
    EXPECT_EQ(forgetful.verdict, Verdict::fail) << "a crash forgets the promise";
}

} // namespace
} // namespace paxos
