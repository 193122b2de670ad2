// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whole stories: transfer, restart within a change, failing disks, large groups, owners that are
// slow to look.
#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

TEST(RaftTransfer, WaitsUntilTheTargetHasEverything) {
    Network net(3);
    net.elect(1);
    net.isolate(3);
    net.propose(1, "a");
    net.settle();
    ASSERT_EQ(net.core(1).transfer(3), TransferStatus::accepted);
    net.drain(1);
    for (const Message& m : net.flight)
        EXPECT_NE(m.type, MessageType::timeout_now) << describe(m);
    net.flight.clear();
    net.heal();
    net.pass(4);
    EXPECT_EQ(net.leader(), 3U);
    EXPECT_EQ(net.core(3).log().at(2).data.size(), 1U);
    EXPECT_EQ(net.core(3).counters().pre_votes, 0U);
    EXPECT_EQ(net[3].store.image().hard.vote, 3U); // durable before anybody was asked
}

TEST(RaftTransfer, OnlyTheLeaderMakesSomebodyStand) {
    Network net(3);
    net.elect(1);
    net.core(2).step(message_of(MessageType::timeout_now, 3, 2, 1));
    EXPECT_EQ(net.core(2).role(), Role::follower);
    net.core(1).step(message_of(MessageType::timeout_now, 3, 1, 1));
    EXPECT_EQ(net.core(1).role(), Role::leader);
    EXPECT_EQ(net.core(1).transfer(1), TransferStatus::not_a_voter);
    EXPECT_EQ(net.core(1).transfer(9), TransferStatus::not_a_voter);
    EXPECT_EQ(net.core(2).transfer(3), TransferStatus::not_leader);
}

TEST(RaftMembership, ARestartWithinAJointChangeElectsByBothSets) {
    Network net(3);
    for (const NodeId id : {4U, 5U})
        net.add_blank(id);
    net.elect(1);
    net.isolate(4);
    net.isolate(5);
    ASSERT_TRUE(net.change(
                       1,
                       {{StepKind::add_voter, 4},
                        {StepKind::add_voter, 5},
                        {StepKind::remove, 2},
                        {StepKind::remove, 3}},
                       Force::yes)
                    .accepted());
    net.settle();
    net.crash(1);
    net.restart(1);
    ASSERT_TRUE(net.core(1).configuration().is_joint());
    net.pass(10);
    net.core(1).campaign();
    net.settle();
    EXPECT_EQ(net.core(1).role(), Role::pre_candidate) << "2 and 3 do not decide alone";
    net.heal();
    net.pass(3);
    EXPECT_EQ(net.core(1).role(), Role::leader);
    net.pass(6);
    EXPECT_EQ(net.core(1).configuration(), make_configuration({1, 4, 5}));
}

// Found by the simulator: nobody sends it entries, so only heartbeats can say what is committed.
TEST(RaftStore, ARestartedFollowerLearnsInAQuietGroupWhatIsCommitted) {
    Network net(3);
    net.elect(1);
    ASSERT_TRUE(net.propose(1, "a").accepted());
    net.settle();
    net.crash(2);
    net[2].store.image().hard.commit = 0; // it only saves work
    net.restart(2);
    ASSERT_EQ(net.core(2).commit(), 0U);
    net.pass(4);
    EXPECT_EQ(net.core(2).commit(), net.core(1).commit());
    EXPECT_EQ(net[2].applied, std::vector<std::string>{"a"});
}

TEST(RaftStore, AFailureOfItIsSilentWhateverWasUnderWay) {
    Network net(3);
    net.elect(1);
    net.settle();
    net.isolate(3);
    net.propose(1, "a");
    net.drain(1);
    net[2].store.broken = true;
    for (const Message& m : net.pull([](const Message& x) { return x.to == 2; }))
        net.core(2).step(m);
    net.drain(2);
    EXPECT_TRUE(net.pull([](const Message& m) { return m.from == 2; }).empty());
    EXPECT_EQ(net.core(2).fault(), Fault::storage);
    EXPECT_EQ(net[2].store.image().entries.size(), 1U);
}

TEST(RaftLimits, GroupsOfAHundredMembersWithAnyIdsWork) {
    std::map<NodeId, Image> images;
    std::vector<NodeId> voters;
    for (NodeId i = 1; i <= 101; ++i)
        voters.push_back(i << 40 | 5);
    for (const NodeId id : voters)
        images[id] = image_of(voters, {});
    Network net(images);
    net.elect(voters[70]);
    for (std::size_t i = 0; i < 50; ++i)
        net.isolate(voters[i]);
    net.propose(voters[70], "a");
    net.settle();
    EXPECT_EQ(net[voters[100]].applied.size(), 1U); // 51 of 101
    net.isolate(voters[51]);
    net.propose(voters[70], "b");
    net.settle();
    EXPECT_EQ(net[voters[100]].applied.size(), 1U); // 50 are too few
}

TEST(RaftLimits, ThousandsOfProposalsBeforeAnybodyLooksAreAFewMessages) {
    Network net(3);
    net.elect(1);
    for (int i = 0; i < 5000; ++i)
        EXPECT_TRUE(net.propose(1, "c").accepted());
    Output out;
    net.core(1).take(out);
    EXPECT_LE(out.messages.size(), 2U * net.core(1).options().inflight_messages);
    EXPECT_LE(net.core(1).log().pieces(), 5000U / 256 + 8);
}

TEST(RaftLimits, EmptyCommandsAreBoundedAndAHangingDiskGathersNoAnswers) {
    Options options = scripted();
    options.uncommitted_bytes_max = 100 * entry_cost;
    Network net(3, options);
    net.elect(1);
    net[2].store.held = true;
    net[3].store.held = true;
    net[1].store.held = true;
    std::size_t accepted = 0;
    for (int i = 0; i < 1000; ++i)
        accepted += net.propose(1, "").accepted() ? 1U : 0U;
    EXPECT_EQ(accepted, 100U);
    net.settle();
    const auto held = net.core(2).counters().held;
    net.pass(30);
    EXPECT_EQ(net.core(2).counters().held, held);
    for (const NodeId id : net.ids()) {
        net[id].store.held = false;
        net[id].store.complete();
    }
    net.pass(4);
    EXPECT_EQ(net[2].applied.size(), 100U);
}

} // namespace
} // namespace promtact::raft::testing
