// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Persistence, snapshots and damaged messages that went wrong elsewhere, at the level of messages:
// what the core asks of its store, in which order, and what it says before that is done.
#include <gtest/gtest.h>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

Message append_of(NodeId from, NodeId to, Term term, Index index, Term log_term, Entries entries) {
    Message m = message_of(MessageType::append, from, to, term);
    m.index = index;
    m.log_term = log_term;
    m.entries = std::move(entries);
    return m;
}

TEST(RaftBug, A30_AnOldCompletionDoesNotVouchForNewEntries) {
    Network net(std::map<NodeId, Image>{{2, image_of({1, 2, 3}, {})}});
    Member& member = net[2];
    member.store.held = true;
    Core& core = member.core;
    core.step(append_of(1, 2, 1, 0, 0, commands_of(1, {1, 1, 1})));
    net.drain(2); // batch 1: t1
    core.step(append_of(3, 2, 2, 0, 0, commands_of(1, {2, 2, 2})));
    net.drain(2); // batch 2: overwritten
    EXPECT_EQ(member.store.pending(), 2U);
    EXPECT_TRUE(net.flight.empty());
    member.store.complete(1);
    net.drain(2);
    EXPECT_EQ(core.log().stable(), 0U) << "the first batch says nothing about the second's entries";
    EXPECT_TRUE(net.pull([](const Message& m) { return !m.reject; }).empty());
    // The same proof again changes nothing.
    ASSERT_TRUE(member.store.last_proof().has_value());
    core.persisted(*member.store.last_proof());
    EXPECT_EQ(core.log().stable(), 0U);
    member.store.complete(1);
    net.drain(2);
    EXPECT_EQ(core.log().stable(), 3U);
    ASSERT_EQ(net.flight.size(), 1U);
    EXPECT_EQ(net.flight[0].to, 3U);
    EXPECT_EQ(net.flight[0].index, 3U);
}

TEST(RaftBug, A31_NobodyIsAskedForAVoteBeforeWhatTheRequestSaysIsDurable) {
    Network net(3);
    net.elect(1);
    net[2].store.held = true;
    net.propose(1, "x");
    net.settle();
    net.crash(1);
    net.crash(3);
    ASSERT_EQ(net.core(2).log().stable() + 1, net.core(2).log().last());
    Options quick = net.core(2).options();
    net.core(2).tick(quick.election_ticks);
    net.core(2).campaign();
    net.drain(2);
    for (const Message& m : net.flight) {
        if (m.type != MessageType::pre_vote) continue;
        Message grant = message_of(MessageType::pre_vote_reply, m.to, 2, m.term);
        grant.context = m.context;
        net.core(2).step(grant);
    }
    net.flight.clear();
    ASSERT_EQ(net.core(2).role(), Role::candidate);
    net.drain(2);
    EXPECT_TRUE(net.flight.empty());
    net[2].store.complete();
    net.drain(2);
    EXPECT_EQ(net.flight.size(), 2U);
    EXPECT_EQ(net[2].store.image().entries.rbegin()->first, net.flight[0].index);
}

TEST(RaftBug, A32_AfterAFailedWriteNothingIsSaidAndNoPlaceIsUsedTwice) {
    Network net(3);
    net.elect(1);
    net[1].store.held = true;
    net.propose(1, "X");
    net.core(1).read_index(8);
    net.drain(1);
    net[1].store.broken = true;
    net.drain(1);
    EXPECT_EQ(net.core(1).fault(), Fault::storage);
    EXPECT_EQ(net.propose(1, "Y").status, ProposeStatus::stopped);
    const std::size_t said = net.flight.size();
    net.core(1).tick(100);
    net.core(1).step(message_of(MessageType::vote, 2, 1, 7));
    net.drain(1);
    EXPECT_EQ(net.flight.size(), said);
    // Who waits is told once.
    ASSERT_EQ(net[1].failed_proposals.size(), 1U);
    EXPECT_EQ(net[1].failed_proposals[0].why, Failure::storage);
    EXPECT_EQ(net[1].failed_reads, (std::vector<FailedRead>{{8, Failure::storage}}));
    EXPECT_FALSE(net.core(1).has_output());
}

TEST(RaftBug, A36_ALeaderWhoseDiskHangsMakesRoom) {
    Options options = scripted();
    options.stall_ticks = 15;
    Network net(3, options);
    net.elect(1);
    net[1].store.held = true;
    net.propose(1, "x");
    net.settle();
    net.pass(14);
    EXPECT_EQ(net.core(1).role(), Role::leader);
    EXPECT_EQ(net[2].applied.size(), 1U); // by the others' disks
    net.pass(1);
    EXPECT_EQ(net.core(1).role(), Role::follower);
    EXPECT_EQ(net.core(1).counters().stalls, 1U);
    EXPECT_FALSE(net.core(1).campaign());
    net.elect(2);
    net[1].store.complete();
    net[1].store.held = false;
    net.pass(6);
    EXPECT_EQ(net.core(1).commit(), net.core(2).commit());
    EXPECT_TRUE(net.core(1).counters().stalls == 1U);
}

TEST(RaftBug, R10_ALeaderDoesNotCountItselfBeforeItsOwnDisk) {
    Network net(3);
    net.elect(1);
    net.isolate(3);
    net[1].store.held = true;
    const Index index = net.propose(1, "x").index;
    net.settle();
    EXPECT_EQ(net.core(2).log().last(), index); // replicated in parallel
    EXPECT_LT(net.core(1).commit(), index);
    net[1].store.complete();
    net.settle();
    EXPECT_EQ(net.core(1).commit(), index);
}

TEST(RaftBug, SD14_ImpossibleMessagesAreCountedAndDropped) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    std::vector<Message> bad;
    for (std::uint8_t type = 0; type < message_types; ++type) {
        Message m = message_of(static_cast<MessageType>(type), 0, 2, 1);
        bad.push_back(m); // from nobody
        m.from = 2;
        bad.push_back(m); // from itself
        m.from = 3;
        m.to = 1;
        bad.push_back(m); // for somebody else
        m.to = 2;
        m.term = 0;
        bad.push_back(m);
        m.term = ~Term{0}; // W30: would be the last term ever
        bad.push_back(m);
        m.term = 2 + (Term{1} << 40); // no member gets there
        bad.push_back(m);
        m.term = 1;
        m.index = ~Index{0};
        bad.push_back(m);
        m.index = 0;
        m.commit = ~Index{0};
        bad.push_back(m);
    }
    bad.push_back(message_of(static_cast<MessageType>(13), 1, 2, 1));
    bad.push_back(message_of(static_cast<MessageType>(255), 1, 2, 1));
    bad.push_back(message_of(MessageType::snapshot, 1, 2, 1)); // without a chunk
    Message with = message_of(MessageType::heartbeat, 1, 2, 1);
    with.entries = commands_of(1, {1});
    bad.push_back(with);
    bad.push_back(append_of(1, 2, 1, 2, 1, commands_of(3, {2}))); // newer than its sender
    bad.push_back(append_of(1, 2, 2, 2, 2, commands_of(3, {1}))); // terms fall
    bad.push_back(append_of(1, 2, 1, 2, 1, commands_of(5, {1}))); // a gap
    bad.push_back(append_of(1, 2, 1, 0, 1, {}));                  // a term of no entry
    const auto image = net.core(2).fingerprint();
    for (const Message& m : bad) {
        net.core(2).step(m);
        ASSERT_EQ(net.core(2).fingerprint(), image) << describe(m);
    }
    EXPECT_EQ(net.core(2).counters().dropped_for(Drop::malformed), bad.size());
    // Two leaders in a term, answers beyond the log.
    net.core(2).step(append_of(3, 2, 1, 2, 1, {}));
    EXPECT_EQ(net.core(2).leader(), 1U);
    Message ahead = message_of(MessageType::append_reply, 2, 1, 1);
    ahead.index = 99;
    net.core(1).step(ahead);
    EXPECT_EQ(net.core(1).progress(2)->match, 2U);
    Message round = message_of(MessageType::heartbeat_reply, 2, 1, 1);
    round.context = 1U << 30;
    net.core(1).step(round);
    net.core(1).step(append_of(2, 1, 1, 2, 1, {}));
    EXPECT_EQ(net.core(1).role(), Role::leader);
    EXPECT_EQ(net.core(1).counters().dropped_for(Drop::impossible), 3U);
}

// Snapshots.

Options chunked() {
    Options options = scripted();
    options.snapshot_chunk_bytes = 10;
    return options;
}

/// 3 lacks what 1 has compacted away.
void lag(Network& net, int commands = 20) {
    net.elect(1);
    net.isolate(3);
    for (int i = 0; i < commands; ++i)
        net.propose(1, "c" + std::to_string(i));
    net.settle();
    net.compact(1);
    net.heal();
}

TEST(RaftBug, A24_ATransferGoesOnWhereItStoppedAndStrayChunksAreIgnored) {
    Network net(3, chunked());
    lag(net);
    int chunks = 0;
    std::vector<Message> seen;
    net.lose = [&](const Message& m) {
        if (m.type != MessageType::snapshot || m.to != 3) return false;
        seen.push_back(m);
        return ++chunks > 3; // then the line is dead
    };
    net.pass(3);
    ASSERT_TRUE(net[3].store.image().partial.has_value());
    EXPECT_EQ(net[3].store.image().partial->bytes, 30U);
    net.crash(3);
    net.restart(3);
    net.lose = [&](const Message& m) {
        if (m.type == MessageType::snapshot && m.to == 3) seen.push_back(m);
        return false;
    };
    seen.clear();
    net.pass(20);
    EXPECT_EQ(net[3].applied, net[1].applied);
    EXPECT_EQ(net[3].installs, 1U);
    EXPECT_GT(net.core(3).counters().snapshots_resumed, 0U);
    for (const Message& m : seen)
        EXPECT_GE(m.chunk->offset, 30U);
    // All of it again, late: nothing happens.
    for (const Message& m : seen)
        net.core(3).step(m);
    net.settle();
    EXPECT_EQ(net[3].installs, 1U);
    EXPECT_FALSE(net[3].store.image().partial.has_value());
}

TEST(RaftBug, A25_TheStateMachineGetsTheSnapshotBeforeAnythingElse) {
    Network net(3, chunked());
    lag(net);
    net.propose(1, "behind");
    net.pass(20);
    ASSERT_EQ(net[3].installs, 1U);
    EXPECT_EQ(net[3].applied, net[1].applied);
    ASSERT_EQ(net.core(1).transfer(3), TransferStatus::accepted);
    net.settle();
    net.core(3).read_index(1);
    net.pass(4);
    EXPECT_EQ(net[3].reads.count(1), 1U);
    EXPECT_EQ(net[3].applied.size(), 21U);
}

TEST(RaftBug, A21_SD03_ACrashAtAnyWriteOfAnInstallLeavesAMemberThatOpens) {
    for (std::size_t batches = 0; batches < 12; ++batches) {
        for (std::size_t parts = 0; parts < 6; ++parts) {
            SCOPED_TRACE(std::to_string(batches) + " batches and " + std::to_string(parts));
            Network net(3, chunked());
            net.elect(1);
            net.propose(1, "old");
            net.settle();
            lag(net);
            net[3].store.held = true;
            for (std::size_t i = 0; i < batches; ++i) {
                net.pass(1);
                net[3].store.complete(1);
            }
            net.pass(1);
            const Term promised = net[3].store.image().hard.term;
            net[3].store.complete_in_part(parts);
            net.crash(3);
            net.restart(3); // Core::open() must succeed
            EXPECT_GE(net.core(3).term(), promised);
            net.pass(40);
            EXPECT_EQ(net[3].applied, net[1].applied);
            if (HasFailure()) return;
        }
    }
}

TEST(RaftBug, A23b_ADamagedSnapshotIsFetchedAgain) {
    Network net(3, chunked());
    lag(net);
    net[3].reject_installs = true;
    net.pass(3);
    EXPECT_EQ(net[3].installs, 0U);
    EXPECT_EQ(net.core(3).commit(), 1U); // what it had before
    net[3].reject_installs = false;
    net.pass(60);
    EXPECT_EQ(net[3].installs, 1U);
    EXPECT_EQ(net[3].applied, net[1].applied);
}

TEST(RaftBug, SD15_ASnapshotOfAnySizeGoesInBoundedPiecesAndHeartbeatsDoNotRestartIt) {
    Network net(3, chunked());
    lag(net, 400);
    std::size_t chunks = 0;
    net.lose = [&](const Message& m) {
        if (m.type != MessageType::snapshot) return false;
        EXPECT_LE(m.chunk->data.size(), 10U);
        ++chunks;
        return false;
    };
    const std::uint64_t bytes = net.core(1).snapshot().bytes;
    ASSERT_GT(bytes, 1000U);
    // One chunk a tick, many heartbeats meanwhile.
    for (int i = 0; i < 2000 && net[3].installs == 0; ++i) {
        net.core(1).tick();
        net.core(2).tick();
        net.core(3).tick();
        for (int moves = 0; moves < 4; ++moves) {
            net.drain_all();
            if (net.flight.empty()) continue;
            const Message m = net.flight.front();
            net.flight.pop_front();
            net.deliver(m);
        }
    }
    EXPECT_EQ(net[3].installs, 1U);
    EXPECT_LE(chunks, 2 * bytes / 10) << "it is not begun again and again";
}

TEST(RaftBug, W22_AChangeIsPossibleAfterAnInstall) {
    Network net(3, chunked());
    net.elect(1);
    net.isolate(3);
    ASSERT_TRUE(net.change(1, {{StepKind::add_learner, 4}}).accepted());
    net.settle();
    net.compact(1);
    net.heal();
    net.pass(20);
    ASSERT_EQ(net[3].installs, 1U);
    EXPECT_EQ(net.core(3).configuration(), net.core(1).configuration());
    ASSERT_EQ(net.core(1).transfer(3), TransferStatus::accepted);
    net.settle();
    EXPECT_TRUE(net.change(3, {{StepKind::remove, 4}}).accepted());
    net.settle();
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 2, 3}));
}

} // namespace
} // namespace promtact::raft::testing
