// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <gtest/gtest.h>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

Options timed(std::uint64_t seed) {
    Options options;
    options.seed = seed;
    return options;
}

std::uint64_t ticks_to_leader(Network& net, std::uint64_t most) {
    for (std::uint64_t ticks = 0; ticks < most; ++ticks) {
        if (net.leader() != no_node) return ticks;
        net.pass(1);
    }
    return most;
}

TEST(RaftElection, AMemberIsElectedAndCommits) {
    Network net(3);
    net.elect(1);
    EXPECT_EQ(net.core(1).term(), 1U);
    EXPECT_TRUE(net.propose(1, "a").accepted());
    net.settle();
    for (const NodeId id : net.ids()) {
        EXPECT_EQ(net[id].applied, std::vector<std::string>{"a"}) << net.core(id).describe();
        EXPECT_EQ(net.core(id).leader(), 1U);
    }
}

TEST(RaftElection, TimeoutsAreDrawnSoThatEqualMembersElectAndNotAlwaysTheSame) {
    std::set<NodeId> leaders;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Network net(5, timed(seed));
        EXPECT_LT(ticks_to_leader(net, 200), 100U) << seed;
        leaders.insert(net.leader());
        EXPECT_LE(net.core(net.leader()).term(), 5U);
    }
    EXPECT_EQ(leaders.size(), 5U);
}

TEST(RaftElection, ASeedIsARunAndAnotherIncarnationDrawsAnew) {
    const auto first = [](std::uint64_t seed, std::uint32_t incarnation) {
        Options options = timed(seed);
        options.id = 1;
        options.incarnation = incarnation;
        Image image;
        image.snapshot.configuration = make_configuration({1, 2, 3});
        auto core = Core::open(options, image.recovered());
        std::uint64_t ticks = 0;
        while (core->role() == Role::follower) {
            core->tick();
            ++ticks;
        }
        return ticks;
    };
    std::set<std::uint64_t> seen;
    for (std::uint32_t incarnation = 1; incarnation < 60; ++incarnation) {
        const auto ticks = first(9, incarnation);
        EXPECT_EQ(ticks, first(9, incarnation));
        EXPECT_GE(ticks, 10U);
        EXPECT_LT(ticks, 20U);
        seen.insert(ticks);
    }
    EXPECT_EQ(seen.size(), 10U);
}

TEST(RaftElection, WhoHasPriorityIsPreferred) {
    std::size_t preferred = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Network net(3, timed(seed));
        for (const NodeId id : {1U, 2U}) {
            Options options = net.core(id).options();
            options.priority = 1;
            net[id].core = Core::open(options, net[id].store.image().recovered()).value();
        }
        ticks_to_leader(net, 100);
        preferred += net.leader() == 3 ? 1U : 0U;
    }
    EXPECT_EQ(preferred, 20U);
}

TEST(RaftElection, APreVoteMovesNobodysTerm) {
    Network net(3);
    net.isolate(1);
    for (int i = 0; i < 100; ++i) {
        net.core(1).campaign();
        net.pass(1);
    }
    EXPECT_EQ(net.core(1).term(), 0U);
    net.heal();
    Message ask = message_of(MessageType::pre_vote, 1, 2, 77);
    net.core(2).step(ask);
    EXPECT_EQ(net.core(2).term(), 0U);
    net.drain(2);
    ASSERT_EQ(net.flight.size(), 1U);
    EXPECT_FALSE(net.flight[0].reject);
    EXPECT_FALSE(net.core(2).has_output());
}

TEST(RaftElection, APreVoteQuorumBeginsOneElection) {
    Network net(3);
    net.core(1).campaign();
    net.settle();
    EXPECT_EQ(net.core(1).counters().pre_votes, 1U);
    EXPECT_EQ(net.core(1).counters().elections, 1U);
    EXPECT_EQ(net.core(1).term(), 1U);
}

TEST(RaftElection, AVoteIsDurableBeforeItIsGivenAndAFailureIsSilent) {
    Network net(3);
    net[2].store.held = true;
    net.core(2).step(message_of(MessageType::vote, 1, 2, 1));
    net.drain(2);
    EXPECT_TRUE(net.flight.empty());
    EXPECT_EQ(net[2].store.pending(), 1U);
    net[2].store.complete();
    net.drain(2);
    ASSERT_EQ(net.flight.size(), 1U);
    EXPECT_FALSE(net.flight[0].reject);
    EXPECT_EQ(net[2].store.image().hard.vote, 1U);
    net.flight.clear();
    net[3].store.broken = true;
    net.core(3).step(message_of(MessageType::vote, 1, 3, 1));
    net.drain(3);
    EXPECT_TRUE(net.flight.empty());
    EXPECT_EQ(net.core(3).fault(), Fault::storage);
}

TEST(RaftElection, AskedAgainTheChosenCandidateIsAnsweredAgain) {
    Network net(3);
    const Message ask = message_of(MessageType::vote, 1, 2, 1);
    for (int i = 0; i < 3; ++i) {
        net.core(2).step(ask);
        net.drain(2);
        ASSERT_EQ(net.flight.size(), 1U);
        EXPECT_FALSE(net.flight[0].reject);
        net.flight.clear();
    }
    net.core(2).step(message_of(MessageType::vote, 3, 2, 1));
    net.drain(2);
    EXPECT_TRUE(net.flight[0].reject);
}

TEST(RaftElection, ACandidateAsksAgainWhenAnswersAreLost) {
    Network net(3);
    int lost = 0;
    net.lose = [&lost](const Message& m) {
        return m.type == MessageType::vote_reply && ++lost <= 2;
    };
    net.core(1).campaign();
    net.settle();
    EXPECT_EQ(net.core(1).role(), Role::candidate);
    net.pass(2);
    EXPECT_EQ(net.core(1).role(), Role::leader);
    EXPECT_EQ(net.core(1).term(), 1U);
}

TEST(RaftElection, HalfOfAnEvenNumberIsNoMajorityAndRepeatedAnswersAreOne) {
    Network net(4);
    net.core(1).campaign();
    net.drain(1);
    net.flight.clear();
    Message grant = message_of(MessageType::pre_vote_reply, 2, 1, 1);
    grant.context = 1;
    for (int i = 0; i < 5; ++i)
        net.core(1).step(grant);
    EXPECT_EQ(net.core(1).role(), Role::pre_candidate);
    grant.from = 3;
    net.core(1).step(grant);
    net.drain(1);
    EXPECT_EQ(net.core(1).role(), Role::candidate);
    net.flight.clear();
    Message vote = message_of(MessageType::vote_reply, 2, 1, 1);
    for (int i = 0; i < 5; ++i)
        net.core(1).step(vote);
    vote.from = 9; // no voter
    net.core(1).step(vote);
    EXPECT_EQ(net.core(1).role(), Role::candidate);
    vote.from = 4;
    net.core(1).step(vote);
    EXPECT_EQ(net.core(1).role(), Role::leader);
}

TEST(RaftElection, AMemberThatComesBackDeposesNobody) {
    Network net(3, timed(5));
    ticks_to_leader(net, 100);
    const NodeId leader = net.leader();
    const Term term = net.core(leader).term();
    const NodeId away = leader % 3 + 1;
    for (int i = 0; i < 20; ++i) {
        net.isolate(away);
        net.pass(30);
        net.heal();
        net.pass(10);
    }
    EXPECT_EQ(net.leader(), leader);
    EXPECT_EQ(net.core(leader).term(), term);
}

/// Somebody with a higher term ignores the leader, and the leader's lease keeps others from hearing
/// him: his answer deposes the leader, once.
TEST(RaftElection, AHigherTermThatIgnoresTheLeaderIsNoStuckPair) {
    Network net(3, timed(6));
    ticks_to_leader(net, 100);
    const NodeId leader = net.leader();
    const NodeId other = leader % 3 + 1;
    Image image = net[other].store.image();
    image.hard.term += 5;
    image.hard.vote = other;
    net[other].store.image() = image;
    net.restart(other);
    net.pass(60);
    ASSERT_NE(net.leader(), no_node);
    for (const NodeId id : net.ids())
        EXPECT_EQ(net.core(id).commit(), net.core(net.leader()).commit());
}

TEST(RaftElection, ALoneMemberLeadsAndCommitsByItsOwnDisk) {
    Network net(1);
    net[1].store.held = true;
    net.core(1).campaign();
    net.settle();
    EXPECT_NE(net.core(1).role(), Role::leader);
    net[1].store.complete();
    net.settle();
    ASSERT_EQ(net.core(1).role(), Role::leader);
    net.propose(1, "a");
    net.settle();
    EXPECT_EQ(net.core(1).commit(), 0U);
    net[1].store.complete();
    net.settle();
    EXPECT_EQ(net[1].applied, std::vector<std::string>{"a"});
    net.core(1).read_index(3);
    net.settle();
    EXPECT_EQ(net[1].reads.count(3), 1U);
}

} // namespace
} // namespace promtact::raft::testing
