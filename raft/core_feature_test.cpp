// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Proposals, reads, changes, compaction and recovery of the core, each by its contract.
#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/raft/configuration_entry.hpp>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

TEST(RaftPropose, SaysWhyNot) {
    Options options = scripted();
    options.command_bytes_max = 10;
    Network net(3, options);
    EXPECT_EQ(net.propose(1, "x").status, ProposeStatus::not_leader);
    net.elect(1);
    EXPECT_EQ(net.propose(2, "x"), (ProposeResult{ProposeStatus::not_leader, 0, 1, 1}));
    EXPECT_EQ(net.propose(1, std::string(11, 'x')).status, ProposeStatus::too_large);
    const auto good = net.propose(1, std::string(10, 'x'));
    EXPECT_EQ(good, (ProposeResult{ProposeStatus::accepted, 2, 1, 1}));
    EXPECT_TRUE(net.propose(1, "").accepted()); // nothing is a command, too
    net.settle();
    EXPECT_EQ(net[3].applied, (std::vector<std::string>{std::string(10, 'x'), ""}));
}

TEST(RaftPropose, WhatWaitsTogetherTravelsTogether) {
    Network net(3);
    net.elect(1);
    for (int i = 0; i < 50; ++i)
        net.propose(1, "c");
    net.drain(1);
    EXPECT_EQ(net.flight.size(), 2U);
    EXPECT_EQ(net.flight[0].entries.size(), 50U);
    EXPECT_EQ(net[1].store.image().entries.size(), 51U); // in one batch
    // And the next does not wait for answers, until the window is full.
    for (std::uint32_t i = 0; i < 100; ++i) {
        net.propose(1, "d");
        net.drain(1);
    }
    EXPECT_EQ(net.flight.size(), 2U * net.core(1).options().inflight_messages);
    EXPECT_TRUE(net.core(1).progress(2)->window.full());
    net.settle();
    EXPECT_EQ(net[2].applied.size(), 150U);
}

TEST(RaftPropose, SeveralBatchesAreUnderWayAndMessagesLeaveAsTheyComplete) {
    Network net(3);
    net.elect(1);
    net[2].store.held = true;
    for (int i = 0; i < 4; ++i) {
        net.propose(1, "c" + std::to_string(i));
        net.settle();
    }
    EXPECT_EQ(net[2].store.pending(), 4U);
    EXPECT_EQ(net.core(1).progress(2)->match, 1U);
    for (Index match = 2; match <= 5; ++match) {
        net[2].store.complete(1);
        net.settle();
        EXPECT_EQ(net.core(1).progress(2)->match, match);
    }
}

TEST(RaftReads, ThatWaitTogetherShareARoundAndFollowersAskTheLeader) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    for (std::uint64_t context = 0; context < 1000; ++context) {
        EXPECT_EQ(net.core(1).read_index(context), ReadStatus::accepted);
        EXPECT_EQ(net.core(3).read_index(context), ReadStatus::accepted);
    }
    net.settle();
    EXPECT_EQ(net[1].reads.size(), 1000U);
    EXPECT_EQ(net[3].reads.size(), 1000U);
    EXPECT_LE(net.core(1).counters().read_rounds, 2U);
    for (const auto& [context, index] : net[3].reads)
        EXPECT_EQ(index, 2U);
}

TEST(RaftReads, OfAFollowerAreAskedAgainAndEndInTime) {
    Network net(3);
    EXPECT_EQ(net.core(3).read_index(1), ReadStatus::no_leader);
    net.elect(1);
    int lost = 0;
    net.lose = [&lost](const Message& m) { return m.type == MessageType::read && ++lost <= 2; };
    net.core(3).read_index(1);
    net.pass(6);
    EXPECT_EQ(net[3].reads.count(1), 1U);
    net.lose = [](const Message& m) { return m.type == MessageType::read_reply; };
    net.core(3).read_index(2);
    net.pass(25);
    EXPECT_EQ(net[3].failed_reads, (std::vector<FailedRead>{{2, Failure::timeout}}));
    // A late answer to that is no answer to the next.
    net.lose = nullptr;
    Message late = message_of(MessageType::read_reply, 1, 3, 1);
    late.context = (std::uint64_t{1} << 32) + 2;
    late.index = 1;
    net.core(3).read_index(3);
    net.drain(3);
    net.core(3).step(late);
    net.drain(3);
    EXPECT_EQ(net[3].reads.count(3), 0U);
    net.settle();
    EXPECT_EQ(net[3].reads.count(3), 1U);
}

TEST(RaftReads, ByLeaseNeedNoRoundWhileItHoldsAndNoneAfterATransferWasTried) {
    Options options = scripted();
    options.lease_reads = true;
    Network net(3, options);
    net.elect(1);
    net.pass(4);
    const auto rounds = net.core(1).counters().read_rounds;
    net.core(1).read_index(1);
    net.drain(1);
    EXPECT_EQ(net[1].reads.count(1), 1U);
    EXPECT_EQ(net.core(1).counters().read_rounds, rounds);
    EXPECT_EQ(net.core(1).counters().reads_by_lease, 1U);
    // (10 - 2) ticks slowed down by 5 %: 7 ticks from the round that was answered.
    net.isolate(1);
    for (int i = 0; i < 8; ++i)
        net.core(1).tick();
    ASSERT_EQ(net.core(1).role(), Role::leader);
    net.core(1).read_index(2);
    net.drain(1);
    EXPECT_EQ(net[1].reads.count(2), 0U);
    net.heal();
    net.pass(4);
    EXPECT_EQ(net[1].reads.count(2), 1U);
    net.cut(1, 2);
    ASSERT_EQ(net.core(1).transfer(2), TransferStatus::accepted);
    net.pass(12);
    net.heal();
    net.pass(4);
    ASSERT_EQ(net.core(1).role(), Role::leader);
    const auto by_lease = net.core(1).counters().reads_by_lease;
    net.core(1).read_index(3);
    net.settle();
    EXPECT_EQ(net[1].reads.count(3), 1U);
    EXPECT_EQ(net.core(1).counters().reads_by_lease, by_lease);
    // Who starts anew may have promised a lease.
    net.crash(3);
    net.restart(3);
    net.core(3).step(message_of(MessageType::vote, 2, 3, 9));
    EXPECT_EQ(net.core(3).term(), 1U);
}

TEST(RaftMembership, JointTakesMajoritiesOfBothSetsAndLeavesByItself) {
    for (const auto& away : {std::vector<NodeId>{2, 3}, std::vector<NodeId>{4, 5}}) {
        Network net(3);
        for (const NodeId id : {4U, 5U})
            net.add_blank(id);
        net.elect(1);
        const auto learn = [](NodeId id) { return ConfigurationStep{StepKind::add_learner, id}; };
        ASSERT_TRUE(net.change(1, {learn(4), learn(5)}).accepted());
        net.pass(4);
        for (const NodeId id : away)
            net.isolate(id);
        ASSERT_TRUE(net.change(
                           1, {{StepKind::add_voter, 4},
                               {StepKind::add_voter, 5},
                               {StepKind::remove, 2},
                               {StepKind::remove, 3}})
                        .accepted());
        const Index index = net.propose(1, "a").index;
        net.pass(4);
        // 1 2 3 are no majority of 1 4 5, and 1 4 5 none of 1 2 3.
        EXPECT_LT(net.core(1).commit(), index - 1) << away[0];
        EXPECT_EQ(net.change(1, {}).status, ProposeStatus::change_in_progress);
        net.heal();
        net.pass(6);
        EXPECT_GE(net.core(1).commit(), index);
        EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 4, 5}));
        EXPECT_EQ(net.core(2).configuration(), make_configuration({1, 4, 5})); // it was told
    }
}

TEST(RaftMembership, RefusesWhatWouldLoseTheQuorumOrWaitForALearnerUnlessForced) {
    Options options = scripted();
    options.promotion_lag_max = 5;
    Network net(3, options, {4});
    EXPECT_EQ(net.change(1, {{StepKind::remove, 3}}).status, ProposeStatus::not_leader);
    net.elect(1);
    net.isolate(3);
    net.isolate(4);
    for (int i = 0; i < 10; ++i)
        net.propose(1, "c");
    net.pass(12);
    EXPECT_EQ(net.change(1, {{StepKind::remove, 2}}).status, ProposeStatus::would_lose_quorum);
    EXPECT_EQ(net.change(1, {{StepKind::add_voter, 9}}).status, ProposeStatus::would_lose_quorum);
    EXPECT_EQ(
        net.change(1, {{StepKind::remove, 9}, {StepKind::remove, 9}}, Force::no).status,
        ProposeStatus::accepted); // a joint change to the same voters
    net.pass(4);
    net.heal();
    net.cut(1, 4);
    net.pass(4);
    EXPECT_EQ(net.change(1, {{StepKind::add_voter, 4}}).status, ProposeStatus::learner_not_ready);
    EXPECT_TRUE(net.change(1, {{StepKind::add_voter, 4}}, Force::yes).accepted());
    EXPECT_EQ(net.change(1, {{StepKind::remove, 4}}).status, ProposeStatus::change_in_progress);
    net.heal();
    net.pass(6);
    EXPECT_EQ(net.core(4).configuration(), make_configuration({1, 2, 3, 4}));
    EXPECT_EQ(
        net.change(
               1, {{StepKind::remove, 1},
                   {StepKind::remove, 2},
                   {StepKind::remove, 3},
                   {StepKind::remove, 4}})
            .status,
        ProposeStatus::invalid_change);
}

TEST(RaftMembership, ContextOfAChangeTravelsInItsEntry) {
    Network net(3);
    net.elect(1);
    ConfigurationChange change;
    change.steps = {{StepKind::add_learner, 4}};
    const auto context = bytes_of("4=host:1");
    change.context.assign(context.begin(), context.end());
    const auto result = net.core(1).propose_config(change);
    ASSERT_TRUE(result.accepted());
    net.settle();
    const auto entry = decode_configuration_entry(net.core(3).log().at(result.index).data);
    ASSERT_TRUE(entry);
    EXPECT_EQ(text_of(entry->context), "4=host:1");
    EXPECT_EQ(entry->configuration, make_configuration({1, 2, 3}, {4}));
}

TEST(RaftCompaction, KeepsTrailingEntriesAndNothingThatIsNotApplied) {
    Options options = scripted();
    options.trailing_entries = 5;
    Network net(3, options);
    net.elect(1);
    for (int i = 0; i < 20; ++i)
        net.propose(1, "c");
    net.settle();
    EXPECT_FALSE(net.core(1).snapshot_at(22).has_value());
    EXPECT_FALSE(net.core(1).snapshot_at(0).has_value());
    net.compact(1);
    net.drain(1);
    EXPECT_EQ(net.core(1).snapshot().index, 21U);
    EXPECT_EQ(net.core(1).log().base(), 16U);
    EXPECT_EQ(net[1].store.image().entries.begin()->first, 17U);
    EXPECT_FALSE(net.core(1).snapshot_at(21).has_value());
    EXPECT_EQ(net.core(1).compact(net.core(1).snapshot()).error().code, Errc::out_of_range);
    net.crash(1);
    net.restart(1);
    EXPECT_EQ(net.core(1).commit(), 21U);
    EXPECT_EQ(net.core(1).log().last(), 21U);
}

TEST(RaftRecovery, RefusesWhatContradictsItself) {
    Options options = scripted();
    options.id = 1;
    const auto opens = [&options](const Image& image) {
        const auto core = Core::open(options, image.recovered());
        return core ? std::string("opens") : core.error().context;
    };
    const Image good = image_of({1, 2, 3}, {1, 1, 2});
    EXPECT_EQ(opens(good), "opens");
    Image image = good;
    image.entries[2].kind = static_cast<EntryKind>(9);
    EXPECT_EQ(opens(image), "raft recovery: entry 2 is of no known kind");
    image = good;
    image.entries[2].kind = EntryKind::configuration;
    EXPECT_EQ(opens(image).find("raft recovery: entry 2: "), 0U) << opens(image);
    image = good;
    image.entries[3].term = 0;
    EXPECT_EQ(opens(image), "raft recovery: entry 3 has term 0 after 1");
    image = good;
    image.hard.commit = 4;
    EXPECT_EQ(opens(image), "raft recovery: commit index 4 beyond the last entry 3");
    image = good;
    image.entries.erase(1);
    EXPECT_EQ(opens(image), "raft recovery: entries begin at 2, the snapshot ends at 0");
    options.heartbeat_ticks = 6;
    EXPECT_EQ(opens(good), "raft options: heartbeat_ticks is 6, must be 1 to 5");
}

TEST(RaftRecovery, ASnapshotAheadOfTheLogTakesItsPlace) {
    Image image = image_of({1, 2, 3}, {1, 1, 2});
    image.snapshot = {
        .index = 10, .term = 4, .configuration = make_configuration({1, 2}), .bytes = 0};
    Network net(std::map<NodeId, Image>{{1, image}});
    EXPECT_EQ(net.core(1).log().last(), 10U);
    EXPECT_EQ(net.core(1).commit(), 10U);
    EXPECT_EQ(net.core(1).term(), 4U);
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 2}));
    // One of another history at its index does, too.
    image.snapshot.index = 2;
    image.snapshot.term = 2;
    Network other(std::map<NodeId, Image>{{1, image}});
    EXPECT_EQ(other.core(1).log().last(), 2U);
    EXPECT_EQ(other.core(1).log().last_term(), 2U);
}

TEST(RaftValue, ACopyGoesOnByItselfAndEqualStatesHaveEqualFingerprints) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    Core copy = net.core(1);
    EXPECT_EQ(copy.fingerprint(), net.core(1).fingerprint());
    copy.propose(bytes_of("b"));
    EXPECT_NE(copy.fingerprint(), net.core(1).fingerprint());
    EXPECT_EQ(net.core(1).log().last(), 2U);
    net.core(1).propose(bytes_of("b"));
    EXPECT_EQ(copy.fingerprint(), net.core(1).fingerprint());
    copy.tick();
    EXPECT_NE(copy.fingerprint(), net.core(1).fingerprint());
    EXPECT_EQ(copy.fingerprint(Timing::left_out), net.core(1).fingerprint(Timing::left_out));
    Output out;
    copy.take(out);
    EXPECT_NE(copy.fingerprint(Timing::left_out), net.core(1).fingerprint(Timing::left_out));
    EXPECT_NE(copy.describe().find("1 leader t1"), std::string::npos) << copy.describe();
}

TEST(RaftStore, AProofOfABatchThatNeverWasStopsTheCore) {
    Network net(3);
    net.elect(1);
    Network other(3);
    other.elect(1);
    for (int i = 0; i < 5; ++i) {
        other.propose(1, "c");
        other.settle();
    }
    net.core(1).persisted(*other[1].store.last_proof()); // of somebody else's store
    EXPECT_EQ(net.core(1).fault(), Fault::impossible_proof);
    EXPECT_EQ(net.propose(1, "x").status, ProposeStatus::stopped);
}

} // namespace
} // namespace promtact::raft::testing
