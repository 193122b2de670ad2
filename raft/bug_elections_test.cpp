// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Elections that went wrong elsewhere, each under the number of its report in the project's survey.
#include <gtest/gtest.h>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

Options deciding() { // timeouts strike by themselves
    Options options;
    options.seed = 3;
    return options;
}

/// Somebody leads within so many ticks.
void expect_leader(Network& net, std::uint64_t ticks) {
    for (std::uint64_t i = 0; i < ticks && net.leader() == no_node; ++i)
        net.pass(1);
    EXPECT_NE(net.leader(), no_node);
}

TEST(RaftBug, A04_ALongerLogOfAnOlderTermDoesNotKeepANewerOneFromWinning) {
    Network net(std::map<NodeId, Image>{
        {1, image_of({1, 2, 3}, {1, 1, 1, 1}, {.term = 2})},
        {2, image_of({1, 2, 3}, {1, 1, 1, 1}, {.term = 2})},
        {3, image_of({1, 2, 3}, {1, 1, 2})}});
    net.crash(2);
    net.elect(3);
    EXPECT_TRUE(net.core(1).log().matches(3, 2));
    // And the other way round it cannot win.
    Network other(std::map<NodeId, Image>{
        {1, image_of({1, 2, 3}, {1, 1, 1, 1}, {.term = 2})}, {3, image_of({1, 2, 3}, {1, 1, 2})}});
    other.pass(10);
    other.core(1).campaign();
    other.settle();
    EXPECT_NE(other.core(1).role(), Role::leader);
}

TEST(RaftBug, A05_APreVoteForgetsNoVote) {
    Network net(3);
    net.core(2).step(message_of(MessageType::vote, 1, 2, 2));
    net.drain(2);
    EXPECT_EQ(net.core(2).vote(), 1U);
    net.core(2).campaign();
    EXPECT_EQ(net.core(2).role(), Role::pre_candidate);
    EXPECT_EQ(net.core(2).vote(), 1U);
    net.flight.clear();
    net.core(2).step(message_of(MessageType::vote, 3, 2, 2));
    net.drain(2);
    ASSERT_EQ(
        net.pull([](const Message& m) { return m.type == MessageType::vote_reply; }).size(), 1U);
    EXPECT_EQ(net.core(2).vote(), 1U);
    net.crash(2);
    net.restart(2);
    EXPECT_EQ(net.core(2).vote(), 1U);
}

TEST(RaftBug, A06_OnlyAnswersToThisRoundCount) {
    Network net(5);
    net.core(1).campaign();
    net.drain(1);
    const auto pre_votes = net.pull([](const Message& m) { return m.to == 2 || m.to == 3; });
    for (const Message& m : pre_votes)
        net.core(m.to).step(m);
    net.drain(2);
    net.drain(3);
    auto grants = net.pull([](const Message& m) { return m.type == MessageType::pre_vote_reply; });
    ASSERT_EQ(grants.size(), 2U);
    net.core(1).step(grants[0]);
    net.core(1).step(grants[0]); // twice: one voter
    EXPECT_EQ(net.core(1).role(), Role::pre_candidate);
    net.core(1).step(grants[1]);
    EXPECT_EQ(net.core(1).role(), Role::candidate);
    net.drain(1);
    // Late grants of the pre-vote are no votes.
    net.core(1).step(grants[0]);
    net.core(1).step(grants[1]);
    Message forged = grants[0];
    forged.from = 4;
    net.core(1).step(forged);
    EXPECT_EQ(net.core(1).role(), Role::candidate);
    EXPECT_GE(net.core(1).counters().dropped_for(Drop::stale), 3U);
}

TEST(RaftBug, A07_AMemberThatWasAwayLearnsTheTermByItsPreVote) {
    Network net(3);
    net.elect(1);
    net.isolate(3);
    for (int round = 0; round < 4; ++round) {
        ASSERT_EQ(
            net.core(round % 2 == 0 ? 1 : 2).transfer(round % 2 == 0 ? 2 : 1),
            TransferStatus::accepted);
        net.settle();
    }
    EXPECT_EQ(net.core(1).term(), 5U);
    net.heal();
    net.crash(1); // the leader
    net.pass(10);
    for (const NodeId id : {3U, 2U, 3U}) {
        net.core(id).campaign();
        net.settle();
    }
    EXPECT_NE(net.leader(), no_node);
}

TEST(RaftBug, A08_AHigherTermWithAShorterLogAndALowerOneWithALongerElect) {
    for (const bool pre_vote : {true, false}) {
        Options options = deciding();
        options.pre_vote = pre_vote;
        Network net(
            std::map<NodeId, Image>{
                {1, image_of({1, 2, 3}, {1}, {.term = 2, .vote = 2, .commit = 1})},
                {3, image_of({1, 2, 3}, {1, 1, 1}, {.term = 1, .vote = 3, .commit = 1})}},
            options);
        expect_leader(net, 200);
    }
}

TEST(RaftBug, SD06_ALostRealElectionDoesNotStopElectionsForEver) {
    // S3: term 1, longest log; S1: term 2, shorter log; S2 is down.
    Network net(
        std::map<NodeId, Image>{
            {1, image_of({1, 2, 3}, {1, 1}, {.term = 2, .vote = 1})},
            {3, image_of({1, 2, 3}, {1, 1, 1, 1}, {.term = 1})}},
        deciding());
    expect_leader(net, 200);
    EXPECT_EQ(net.leader(), 3U);
    EXPECT_GT(net.core(3).counters().terms_learnt, 0U);
}

TEST(RaftBug, A09_AHeartbeatOfTheOldLeaderDoesNotUndoATransfer) {
    Network net(3);
    net.elect(1);
    ASSERT_EQ(net.core(1).transfer(2), TransferStatus::accepted);
    net.drain(1);
    for (const Message& m : net.pull([](const Message& x) { return x.to == 2; }))
        net.core(2).step(m);
    EXPECT_EQ(net.core(2).role(), Role::candidate);
    Message late = message_of(MessageType::heartbeat, 1, 2, 1);
    late.context = 1;
    net.core(2).step(late);
    EXPECT_EQ(net.core(2).role(), Role::candidate);
    net.settle();
    EXPECT_EQ(net.leader(), 2U);
    ASSERT_EQ(net[1].transfers.size(), 1U);
    EXPECT_FALSE(net[1].transfers[0].failure.has_value());
}

TEST(RaftBug, A10_ALeaderWithoutQuorumStepsDownAndBoundsItsLog) {
    for (const bool one_way : {false, true}) {
        Options options = scripted();
        options.uncommitted_bytes_max = 10 * (100 + entry_cost);
        Network net(3, options);
        net.elect(1);
        for (const NodeId other : {2U, 3U}) {
            net.cut(other, 1);
            if (!one_way) net.cut(1, other);
        }
        std::size_t accepted = 0;
        std::size_t overloaded = 0;
        for (int i = 0; i < 100; ++i) {
            const auto result = net.propose(1, std::string(100, 'x'));
            accepted += result.accepted() ? 1U : 0U;
            overloaded += result.status == ProposeStatus::overloaded ? 1U : 0U;
        }
        EXPECT_EQ(accepted, 10U);
        EXPECT_EQ(overloaded, 90U);
        net.pass(20);
        EXPECT_EQ(net.core(1).role(), Role::follower);
        EXPECT_EQ(net.core(1).counters().quorum_lost, 1U);
        EXPECT_EQ(net.propose(1, "x").status, ProposeStatus::not_leader);
        ASSERT_EQ(net[1].failed_proposals.size(), 1U);
        EXPECT_EQ(net[1].failed_proposals[0].last - net[1].failed_proposals[0].first + 1, 10U);
        EXPECT_EQ(net[1].failed_proposals[0].why, Failure::leadership_lost);
    }
}

TEST(RaftBug, SD07_ALeaderThatIsCutOffIsNoLeaderForLong) {
    Network net(3, deciding());
    expect_leader(net, 100);
    const NodeId old = net.leader();
    net.isolate(old);
    net.pass(25);
    EXPECT_NE(net.core(old).role(), Role::leader);
    EXPECT_NE(net.leader(), no_node);
    net.pass(1000);
    EXPECT_LT(net.core(old).term(), 20U); // its pre-votes raise nothing
}

TEST(RaftBug, A11_AnAuthorisedTransferBeatsTheLeaseAndNothingElseDoes) {
    Network net(5);
    net.elect(1);
    // Everybody has just heard the leader.
    Message request = message_of(MessageType::vote, 3, 2, 9);
    request.index = net.core(3).log().last();
    request.log_term = net.core(3).log().last_term();
    net.core(2).step(request);
    EXPECT_EQ(net.core(2).term(), 1U);
    EXPECT_EQ(net.core(2).counters().dropped_for(Drop::leased), 1U);
    ASSERT_EQ(net.core(1).transfer(4), TransferStatus::accepted);
    net.settle();
    EXPECT_EQ(net.leader(), 4U);
}

TEST(RaftBug, SD08_APreVoteGrantAfterTheLeaderWasHeardHasNoEffect) {
    Network net(3);
    net.elect(1);
    net.pass(10);
    net.core(2).campaign();
    net.drain(2);
    auto asked = net.pull([](const Message& m) { return m.to == 3; });
    net.flight.clear();
    ASSERT_EQ(asked.size(), 1U);
    net.core(3).tick(10); // does not hear the leader any more
    net.core(3).step(asked[0]);
    net.drain(3);
    auto grant = net.pull([](const Message& m) { return m.to == 2; });
    ASSERT_EQ(grant.size(), 1U);
    ASSERT_FALSE(grant[0].reject);
    Message heartbeat = message_of(MessageType::heartbeat, 1, 2, 1);
    net.core(2).step(heartbeat);
    EXPECT_EQ(net.core(2).role(), Role::follower);
    net.core(2).step(grant[0]);
    EXPECT_EQ(net.core(2).role(), Role::follower);
    EXPECT_EQ(net.core(2).term(), 1U);
    // Without the heartbeat it would have stood.
    net.core(2).campaign();
    net.flight.clear();
    net.drain(2);
    Message fresh = grant[0];
    fresh.context = net.flight.front().context;
    net.core(2).step(fresh);
    EXPECT_EQ(net.core(2).role(), Role::candidate);
}

TEST(RaftBug, A14_ALearnerThatWasPromotedWithoutKnowingItVotes) {
    Network net(2, scripted(), {3});
    net.elect(1);
    net.isolate(3); // it has caught up, but not with what follows
    ASSERT_TRUE(net.change(1, {{StepKind::add_voter, 3}}).accepted());
    net.settle();
    EXPECT_TRUE(net.core(2).configuration().is_voter(3));
    EXPECT_FALSE(net.core(3).configuration().is_voter(3));
    net.heal();
    net.crash(1);
    net.elect(2);
    EXPECT_TRUE(net.core(3).configuration().is_voter(3));
}

TEST(RaftBug, A16_WhoIsAppendedButNotKnownToAllStillElects) {
    // {1 2 3} and learner 4 become {1 2 4}; 3 and 4 differ in what they know; 1 dies, 2 comes back.
    Network net(3, scripted(), {4});
    net.elect(1);
    net.isolate(4);
    net.cut(1, 2);
    ASSERT_TRUE(net.change(1, {{StepKind::add_voter, 4}, {StepKind::remove, 3}}).accepted());
    net.settle();
    EXPECT_TRUE(net.core(3).configuration().is_joint());
    EXPECT_FALSE(net.core(2).configuration().is_joint());
    net.heal();
    net.crash(1);
    net.pass(10);
    for (int round = 0; round < 3 && net.leader() == no_node; ++round) {
        for (const NodeId id : {2U, 3U, 4U}) {
            net.core(id).campaign();
            net.settle();
            if (net.leader() != no_node) break;
        }
        net.pass(10);
    }
    EXPECT_NE(net.leader(), no_node);
}

TEST(RaftBug, A19_WhoIsNoVoterNeverStands) {
    Network net(3, scripted(), {4});
    net.elect(1);
    EXPECT_FALSE(net.core(4).campaign());
    Message now = message_of(MessageType::timeout_now, 1, 4, 1);
    net.core(4).step(now);
    EXPECT_EQ(net.core(4).role(), Role::follower);
    net.core(4).tick(100'000);
    EXPECT_EQ(net.core(4).role(), Role::follower);
    ASSERT_TRUE(net.change(1, {{StepKind::remove, 3}}).accepted());
    net.pass(4);
    ASSERT_FALSE(net.core(3).configuration().contains(3)); // it was told
    net.core(3).step(message_of(MessageType::timeout_now, 1, 3, 1));
    net.core(3).tick(100'000);
    EXPECT_FALSE(net.core(3).campaign());
    EXPECT_EQ(net.core(3).role(), Role::follower);
    EXPECT_EQ(net.core(3).term(), 1U);
}

} // namespace
} // namespace promtact::raft::testing
