// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Replication and commit that went wrong elsewhere, each under the number of its report.
#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

Message append_of(NodeId from, NodeId to, Term term, Index index, Term log_term, Index commit) {
    Message m = message_of(MessageType::append, from, to, term);
    m.index = index;
    m.log_term = log_term;
    m.commit = commit;
    return m;
}

bool is_entry_append(const Message& m) {
    return m.type == MessageType::append && !m.entries.empty();
}

TEST(RaftBug, A01_EntriesOfEarlierTermsAreNotCommittedByCounting) {
    // S1 leads in term 4 with an entry of term 2 that it copies to a majority.
    std::map<NodeId, Image> images;
    for (NodeId id = 1; id <= 5; ++id)
        images[id] = image_of({1, 2, 3, 4, 5}, {1}, {.term = 3});
    images[1] = image_of({1, 2, 3, 4, 5}, {1, 2}, {.term = 3});
    images[2] = images[1];
    images[5] = image_of({1, 2, 3, 4, 5}, {1, 3}, {.term = 3});
    Network net(images);
    net.crash(5);
    // S3 gets the entry of term 2, but nothing of term 4.
    net.lose = [](const Message& m) { return is_entry_append(m); };
    net.elect(1);
    Message copy = append_of(1, 3, 4, 1, 1, 0);
    copy.entries = commands_of(2, {2});
    net.core(3).step(copy);
    net.drain(3);
    for (const Message& m : net.pull([](const Message& x) { return x.to == 1; }))
        net.core(1).step(m);
    Message has = message_of(MessageType::append_reply, 2, 1, 4);
    has.index = 2;
    net.core(1).step(has);
    ASSERT_NE(net.core(1).progress(3), nullptr);
    EXPECT_EQ(net.core(1).progress(2)->match, 2U);
    EXPECT_EQ(net.core(1).progress(3)->match, 2U);
    EXPECT_LT(net.core(1).commit(), 2U); // on three of five, and still not committed
    // S5 may therefore overwrite it.
    net.crash(1);
    net.restart(5);
    net[5].up = true;
    net.lose = nullptr;
    net.pass(10);
    net.core(5).campaign();
    net.settle(); // learns term 4
    net.elect(5);
    EXPECT_TRUE(net.core(3).log().matches(2, 3));
}

TEST(RaftBug, A02_CommitGoesNoFurtherThanWhatTheMessageShows) {
    Network net(std::map<NodeId, Image>{{4, image_of({1, 2, 3, 4, 5}, {1, 1, 2, 2, 2, 2})}});
    Core& core = net.core(4);
    // A new leader's empty append matches at 2; 3 to 6 here are of the old one.
    core.step(append_of(1, 4, 3, 2, 1, 30));
    EXPECT_EQ(core.commit(), 2U);
    net.drain(4);
    ASSERT_EQ(net.flight.size(), 1U);
    EXPECT_EQ(net.flight[0].index, 2U); // what was shown, not the last one here
    Message heartbeat = message_of(MessageType::heartbeat, 1, 4, 3);
    heartbeat.commit = 6; // nonsense of a broken leader
    core.step(heartbeat);
    EXPECT_EQ(core.commit(), 2U);
    Message more = append_of(1, 4, 3, 2, 1, 30);
    more.entries = commands_of(3, {3});
    core.step(more);
    EXPECT_EQ(core.commit(), 3U);
    EXPECT_EQ(core.log().last(), 3U);
}

TEST(RaftBug, A03_AnOldAppendRemovesNothing) {
    Network net(3);
    net.elect(1);
    for (int i = 0; i < 8; ++i)
        net.propose(1, "c" + std::to_string(i));
    net.settle();
    const Index last = net.core(2).log().last();
    Message old = append_of(1, 2, 1, 1, 1, 1);
    EntriesBuilder builder(2, 2, 8);
    builder.push(1, EntryKind::command, bytes_of("c0")).push(1, EntryKind::command, bytes_of("c1"));
    old.entries = builder.build();
    net.core(2).step(old);
    EXPECT_EQ(net.core(2).log().last(), last);
    net.drain(2);
    const auto replies = net.pull([](const Message& m) { return m.from == 2; });
    ASSERT_FALSE(replies.empty());
    EXPECT_FALSE(replies.back().reject);
    EXPECT_EQ(replies.back().index, net.core(2).commit()); // what it vouches for, not its last
    EXPECT_EQ(net[2].store.image().entries.size(), last);
    EXPECT_EQ(net.core(2).counters().truncations, 0U);
}

TEST(RaftBug, A23_AProbeBelowTheLeadersBaseIsASnapshotNotATermOfZero) {
    Network net(3);
    net.elect(1);
    net.isolate(3);
    for (int i = 0; i < 20; ++i)
        net.propose(1, "c" + std::to_string(i));
    net.settle();
    net.compact(1);
    net.heal();
    net.lose = [](const Message& m) {
        EXPECT_FALSE(m.type == MessageType::append && m.log_term == 0 && m.index > 0);
        return false;
    };
    net.pass(40);
    EXPECT_EQ(net[3].applied, net[1].applied);
    EXPECT_GT(net[3].installs, 0U);
}

TEST(RaftBug, A26_ABatchIsContiguousWhateverTheSizes) {
    Options options = scripted();
    options.append_bytes_max = 100;
    Network net(3, options);
    net.elect(1);
    net.isolate(3);
    for (const std::size_t size : {10U, 95U, 300U, 5U, 5U, 99U, 1U})
        net.propose(1, std::string(size, 'x'));
    net.settle();
    net.heal();
    net.lose = [](const Message& m) {
        EXPECT_TRUE(m.entries.empty() || m.entries.first() == m.index + 1);
        EXPECT_TRUE(m.entries.size() <= 1 || m.entries.bytes() <= 100);
        return false;
    };
    net.pass(10);
    EXPECT_EQ(net[3].applied, net[1].applied);
    EXPECT_EQ(net[3].applied.size(), 7U);
    // And the receiver looks: entries that do not follow are dropped.
    Message gap = append_of(1, 2, 1, 2, 1, 0);
    gap.entries = commands_of(4, {1});
    net.core(2).step(gap);
    EXPECT_EQ(net.core(2).counters().dropped_for(Drop::malformed), 1U);
}

TEST(RaftBug, A27_ACaughtUpFollowerComesBackFromProbingWithoutWrites) {
    Network net(3);
    net.elect(1);
    ASSERT_EQ(net.core(1).progress(2)->state, ProgressState::replicate);
    net.core(1).unreachable(2);
    ASSERT_EQ(net.core(1).progress(2)->state, ProgressState::probe);
    net.pass(4);
    EXPECT_EQ(net.core(1).progress(2)->state, ProgressState::replicate);
}

TEST(RaftBug, A28_CountersOfBytesComeBackToZero) {
    Network net(3, scripted(), {4});
    net.elect(1);
    for (int round = 0; round < 10; ++round) {
        const NodeId leader = net.leader();
        for (int i = 0; i < 30; ++i)
            net.propose(leader, std::string(static_cast<std::size_t>(i), 'x'));
        if (round == 3) net.change(leader, {{StepKind::add_voter, 4}});
        if (round == 5) net.isolate(leader % 3 + 1);
        if (round == 6) net.heal();
        if (round == 7) net.core(leader).unreachable(leader % 3 + 1);
        if (round % 3 == 2) net.core(leader).transfer(leader % 3 + 1);
        net.pass(12);
        if (net.leader() == no_node) net.elect(1);
    }
    net.pass(20);
    const Core& leader = net.core(net.leader());
    EXPECT_EQ(leader.uncommitted_bytes(), 0U);
    for (const NodeId id : net.ids()) {
        if (const Progress* follower = leader.progress(id)) {
            EXPECT_EQ(follower->window.bytes(), 0U);
            EXPECT_EQ(follower->window.messages(), 0U);
            EXPECT_EQ(follower->match, leader.log().last());
        }
    }
}

TEST(RaftBug, A29_NoWritesDuringATransferAndTheWayBackIsFree) {
    Network net(3);
    net.elect(1);
    net.isolate(2);
    ASSERT_EQ(net.core(1).transfer(2), TransferStatus::accepted);
    EXPECT_EQ(net.core(1).transfer(3), TransferStatus::in_progress);
    EXPECT_EQ(net.propose(1, "x").status, ProposeStatus::transferring);
    net.pass(9);
    EXPECT_EQ(net.propose(1, "x").status, ProposeStatus::transferring);
    net.pass(1); // the target is dead: the transfer ends visibly
    EXPECT_TRUE(net.propose(1, "x").accepted());
    net.settle();
    ASSERT_EQ(net[1].transfers.size(), 1U);
    EXPECT_EQ(net[1].transfers[0].failure, Failure::timeout);
    // Lost leadership clears it, too.
    ASSERT_EQ(net.core(1).transfer(3), TransferStatus::accepted);
    net.settle();
    EXPECT_EQ(net.leader(), 3U);
    EXPECT_EQ(net.core(1).transferring_to(), no_node);
}

TEST(RaftBug, SD09_ManyRefusalsOfOneGapMoveNextOnce) {
    Network net(3);
    net.elect(1);
    net.isolate(3);
    for (int i = 0; i < 60; ++i)
        net.propose(1, "c" + std::to_string(i));
    net.settle();
    net.heal();
    net.cut(3, 1);
    net.pass(2);
    net.flight.clear();
    net.heal();
    // One refusal, twelve times.
    Message refusal = message_of(MessageType::append_reply, 3, 1, 1);
    refusal.reject = true;
    refusal.index = net.core(1).progress(3)->next - 1;
    refusal.hint = 1;
    refusal.hint_term = 1;
    for (int i = 0; i < 12; ++i)
        net.core(1).step(refusal);
    const Progress& follower = *net.core(1).progress(3);
    EXPECT_EQ(follower.next, 2U);
    EXPECT_GE(follower.next, follower.match + 1);
    net.pass(4);
    EXPECT_EQ(net.core(3).commit(), net.core(1).commit());
}

TEST(RaftBug, SD10_AnOlderAnswerDoesNotLowerMatch) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.propose(1, "b");
    net.settle();
    ASSERT_EQ(net.core(1).progress(2)->match, 3U);
    Message old = message_of(MessageType::append_reply, 2, 1, 1);
    old.index = 1;
    net.core(1).step(old);
    EXPECT_EQ(net.core(1).progress(2)->match, 3U);
    EXPECT_EQ(net.core(1).progress(2)->next, 4U);
    old.reject = true;
    net.core(1).step(old);
    EXPECT_EQ(net.core(1).progress(2)->next, 4U);
}

TEST(RaftBug, W01_ALongerUncommittedLogIsRepaired) {
    Network net(3);
    net.elect(1);
    net.isolate(1);
    for (int i = 0; i < 40; ++i)
        net.propose(1, "lost" + std::to_string(i));
    net.drain(1);
    net.flight.clear();
    net.pass(10);
    net.elect(2);
    net.heal();
    net.pass(6);
    EXPECT_EQ(net.core(1).log().last(), net.core(2).log().last());
    EXPECT_EQ(net.core(1).commit(), net.core(2).commit());
}

TEST(RaftBug, W07_CommittedEntriesAreNeverTruncatedTheMemberStops) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    Core& core = net.core(2);
    ASSERT_EQ(core.commit(), 2U);
    Message evil = append_of(3, 2, 5, 1, 1, 2);
    evil.entries = commands_of(2, {5});
    core.tick(10); // hears no leader any more
    core.step(evil);
    EXPECT_EQ(core.fault(), Fault::committed_truncation);
    EXPECT_EQ(core.log().last(), 2U);
    EXPECT_EQ(core.log().term(2), Term{1});
    // It says and does nothing from now on.
    Output out;
    core.tick(100);
    EXPECT_FALSE(core.has_output());
    core.take(out);
    EXPECT_TRUE(out.messages.empty());
    EXPECT_FALSE(out.must_persist());
    EXPECT_EQ(core.propose({}).status, ProposeStatus::stopped);
    EXPECT_EQ(core.read_index(1), ReadStatus::stopped);
}

TEST(RaftBug, W18_AStaleRefusalStartsNoPingPong) {
    Network net(3);
    net.elect(1);
    for (int i = 0; i < 5; ++i)
        net.propose(1, "c" + std::to_string(i));
    net.settle();
    net.compact(2);
    net.compact(1);
    Message stale = message_of(MessageType::append_reply, 2, 1, 1);
    stale.reject = true;
    for (Index index = 0; index <= 7; ++index) {
        for (Index hint = 0; hint <= index; ++hint) {
            stale.index = index;
            stale.hint = hint;
            stale.hint_term = hint == 0 ? 0 : 1;
            net.core(1).step(stale);
            net.settle(); // asserts a bound of messages
        }
    }
    net.propose(1, "after");
    net.pass(4);
    EXPECT_EQ(net[2].applied.back(), "after");
}

TEST(RaftBug, W24_CatchingUpTakesMessagesInProportionToBatches) {
    Options options = scripted();
    options.append_entries_max = 64;
    Network net(3, options);
    net.elect(1);
    net.isolate(3);
    for (int i = 0; i < 6400; ++i) {
        net.propose(1, "0123456789");
        if (i % 100 == 0) net.settle();
    }
    net.settle();
    net.heal();
    std::size_t appends = 0;
    std::size_t under_way = 0;
    net.lose = [&](const Message& m) {
        appends += m.to == 3 && m.type == MessageType::append ? 1U : 0U;
        under_way = std::max(under_way, net.flight.size());
        return false;
    };
    net.pass(4);
    EXPECT_EQ(net.core(3).commit(), net.core(1).commit());
    EXPECT_LE(appends, 6400 / 64 + 20);
    EXPECT_LE(under_way, 4U * options.inflight_messages);
}

} // namespace
} // namespace promtact::raft::testing
