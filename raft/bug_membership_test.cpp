// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Changes of members that went wrong elsewhere, each under the number of its report.
#include <gtest/gtest.h>

#include <promtact/raft/configuration_entry.hpp>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

std::size_t configuration_entries(const Log& log) {
    std::size_t count = 0;
    for (Index index = log.base() + 1; index <= log.last(); ++index)
        count += log.at(index).kind == EntryKind::configuration ? 1U : 0U;
    return count;
}

TEST(RaftBug, A15_AJointConfigurationIsLeftByOneEntry) {
    Options options = scripted();
    options.apply_bytes_max = 1; // applied one by one
    Network net(3, options, {4});
    net.elect(1);
    ASSERT_TRUE(net.change(1, {{StepKind::add_voter, 4}, {StepKind::remove, 3}}).accepted());
    for (int i = 0; i < 10; ++i)
        net.propose(1, "c");
    net.pass(5);
    EXPECT_FALSE(net.core(1).configuration().is_joint());
    EXPECT_EQ(configuration_entries(net.core(1).log()), 2U);
    EXPECT_EQ(net.core(1).counters().joint_left, 1U);
    EXPECT_EQ(net.core(4).configuration(), make_configuration({1, 2, 4}));
}

TEST(RaftBug, A17_ANewLeaderWorksUnderTheNewestAppendedConfiguration) {
    Network net(3);
    net.add_blank(4);
    net.elect(1);
    net.cut(1, 3);
    net.cut(1, 4);
    ASSERT_TRUE(net.change(1, {{StepKind::add_voter, 4}}).accepted());
    net.drain(1);
    for (const Message& m : net.pull([](const Message& x) { return x.to == 2; }))
        net.core(2).step(m);
    net.drain(2);
    net.flight.clear();
    net.crash(1);
    EXPECT_TRUE(net.core(2).configuration().is_voter(4));
    net.pass(10);
    net.lose = [](const Message& m) { return m.type == MessageType::append; };
    net.core(2).campaign();
    net.settle();
    ASSERT_EQ(net.core(2).role(), Role::leader); // with 3 and 4, three of four
    EXPECT_EQ(net.change(2, {{StepKind::add_voter, 5}}).status, ProposeStatus::not_ready);
    net.lose = nullptr;
    net.pass(4);
    EXPECT_EQ(net.core(4).configuration(), make_configuration({1, 2, 3, 4}));
}

TEST(RaftBug, A18_ARemovedLeaderCommitsWhatItHasWithoutItsOwnVote) {
    Network net(3);
    net.elect(1);
    net.isolate(3);
    ASSERT_TRUE(net.change(1, {{StepKind::remove, 1}}).accepted());
    const Index after = net.propose(1, "written behind the change").index;
    net.settle();
    EXPECT_EQ(net.core(1).role(), Role::leader);
    EXPECT_LT(net.core(1).commit(), after - 1) << "1 and 2 are no quorum of 2 and 3";
    net.heal();
    net.pass(6);
    EXPECT_EQ(net.core(1).role(), Role::follower);
    EXPECT_EQ(net.core(1).counters().retired, 1U);
    EXPECT_NE(net.leader(), no_node); // was told to stand at once
    for (const NodeId id : {2U, 3U})
        EXPECT_GE(net.core(id).commit(), after);
    net.core(1).tick(100'000);
    EXPECT_EQ(net.core(1).role(), Role::follower);
}

TEST(RaftBug, A20_AppendedConfigurationsSurviveARestartAndSnapshotsSayTheirIndex) {
    Network net(2);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    const Index before = net.core(1).applied();
    net.isolate(2);
    ASSERT_TRUE(net.change(1, {{StepKind::remove, 2}}).accepted());
    net.settle(); // one of one: committed
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1}));
    // A snapshot below the change says who took part then.
    const auto meta = net.core(1).snapshot_at(before);
    ASSERT_TRUE(meta.has_value());
    EXPECT_EQ(meta->configuration, make_configuration({1, 2}));
    net.crash(1);
    net.restart(1);
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1}));
    EXPECT_TRUE(net.core(1).campaign());
    net.settle();
    EXPECT_EQ(net.core(1).role(), Role::leader);
}

TEST(RaftBug, SD11_CompactionBelowAnAppliedChangeLeavesAMemberThatOpens) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    const Index below = net.core(1).applied();
    ASSERT_TRUE(net.change(1, {{StepKind::remove, 3}, {StepKind::add_learner, 4}}).accepted());
    net.pass(4);
    ASSERT_GT(net.core(1).applied(), below + 1);
    auto meta = *net.core(1).snapshot_at(below);
    const auto state = encode_state(net[1].applied);
    meta.bytes = state.size();
    EXPECT_EQ(meta.configuration, make_configuration({1, 2, 3}));
    // Whatever is not as of the index is refused.
    SnapshotMeta wrong = meta;
    wrong.configuration = net.core(1).configuration();
    EXPECT_FALSE(net.core(1).compact(wrong).has_value());
    ASSERT_TRUE(net.core(1).compact(meta).has_value());
    net[1].store.save_snapshot(meta, state);
    net.drain(1);
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 2}, {4}));
    net.crash(1);
    net.restart(1);
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 2}, {4}));
    EXPECT_EQ(net.core(1).log().base(), below);
}

TEST(RaftBug, C4_ATruncatedConfigurationIsNotInForceAnyMore) {
    Network net(3);
    net.elect(1);
    net.isolate(1);
    ASSERT_TRUE(net.change(1, {{StepKind::remove, 3}}).accepted());
    net.drain(1);
    net.flight.clear();
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 2}));
    net.elect(2);
    net.heal();
    net.pass(4);
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 2, 3}));
    EXPECT_EQ(net.core(1).counters().changes_undone, 1U);
}

TEST(RaftBug, C12_OnlyTheLeaderThatDemotedItselfCanWinAndDoes) {
    Network net(2);
    net.elect(1);
    net.cut(1, 2); // 2 never hears of it
    ASSERT_TRUE(net.change(1, {{StepKind::add_learner, 1}}).accepted());
    net.settle();
    net.pass(20);
    ASSERT_EQ(net.leader(), no_node);
    net.heal();
    EXPECT_FALSE(net.core(1).configuration().is_voter(1));
    net.core(2).campaign();
    net.settle();
    EXPECT_EQ(net.leader(), no_node) << "its log is behind";
    EXPECT_TRUE(net.core(1).campaign());
    net.settle();
    net.pass(4);
    EXPECT_EQ(net.leader(), 2U);
    EXPECT_EQ(net.core(2).configuration(), make_configuration({2}, {1}));
}

TEST(RaftBug, W15_AStrangerNeitherLeadsNorDeposes) {
    Network net(3);
    net.elect(1);
    net.settle();
    for (const Term term : {Term{1}, Term{5}}) {
        for (const MessageType type :
             {MessageType::append, MessageType::heartbeat, MessageType::vote,
              MessageType::append_reply, MessageType::vote_reply, MessageType::heartbeat_reply}) {
            for (const NodeId id : {1U, 2U}) {
                Message m = message_of(type, 9, id, term);
                m.index = 1;
                m.log_term = 1;
                m.reject = type == MessageType::append_reply;
                net.core(id).step(m);
                EXPECT_EQ(net.core(id).term(), 1U) << describe(m);
                EXPECT_EQ(net.core(id).leader(), 1U) << describe(m);
            }
        }
    }
    EXPECT_EQ(net.core(1).role(), Role::leader);
    EXPECT_GE(net.core(1).counters().dropped_for(Drop::stranger), 10U);
}

TEST(RaftBug, W08_AMalformedConfigurationIsNotTakenEvenOverAConflict) {
    Network net(std::map<NodeId, Image>{{2, image_of({1, 2, 3}, {1, 1, 1})}});
    Message m = message_of(MessageType::append, 1, 2, 2);
    m.index = 1;
    m.log_term = 1;
    for (const int damage : {0, 1, 2, 3}) {
        std::vector<std::byte> data;
        encode_configuration_entry(make_configuration({1, 2, 3}), {}, data);
        auto kind = EntryKind::configuration;
        if (damage == 0) data.resize(data.size() - 1);
        if (damage == 1) data[4] = std::byte{77}; // another version
        if (damage == 2) kind = static_cast<EntryKind>(3);
        if (damage == 3) kind = EntryKind::noop; // with a payload
        EntriesBuilder builder(2, 1, data.size());
        m.entries = builder.push(2, kind, data).build();
        net.core(2).step(m);
        EXPECT_EQ(net.core(2).log().last(), 3U);
        EXPECT_EQ(net.core(2).term(), 1U);
        EXPECT_FALSE(net.core(2).has_output());
    }
    EXPECT_EQ(net.core(2).counters().dropped_for(Drop::malformed), 4U);
}

} // namespace
} // namespace promtact::raft::testing
