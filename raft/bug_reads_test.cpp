// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads that were not linearizable, or never ended, elsewhere.
#include <gtest/gtest.h>

#include "network.hpp"

namespace promtact::raft::testing {
namespace {

TEST(RaftBug, A12_ANewLeaderReadsOnlyAfterACommitOfItsOwn) {
    Network net(3);
    net.elect(1);
    // The write is committed at the leader; the news does not reach the others.
    net.propose(1, "w");
    net.drain(1);
    for (const Message& m : net.pull([](const Message& x) { return x.to != 1; }))
        net.core(m.to).step(m);
    net.drain_all();
    for (const Message& m : net.pull([](const Message& x) { return x.to == 1; }))
        net.core(1).step(m);
    ASSERT_EQ(net.core(1).commit(), 2U);
    ASSERT_LT(net.core(2).commit(), 2U);
    net.crash(1);
    net.flight.clear();
    net.pass(10);
    // 2 wins, but its no-op gets nowhere yet.
    net.lose = [](const Message& m) { return m.type == MessageType::append; };
    net.core(2).campaign();
    net.settle();
    ASSERT_EQ(net.core(2).role(), Role::leader);
    EXPECT_EQ(net.core(2).read_index(5), ReadStatus::accepted);
    net.pass(3);
    EXPECT_TRUE(net[2].reads.empty());
    net.lose = nullptr;
    net.pass(6);
    ASSERT_EQ(net[2].reads.count(5), 1U);
    EXPECT_GE(net[2].reads[5], 2U);
    EXPECT_EQ(net[2].applied, std::vector<std::string>{"w"});
}

TEST(RaftBug, A13_AReadEndsWhateverIsLostAndLaterOnesWork) {
    Network net(3);
    net.elect(1);
    int lost = 0;
    net.lose = [&lost](const Message& m) {
        return m.type == MessageType::heartbeat && m.context != 0 && ++lost <= 2;
    };
    net.core(1).read_index(1);
    net.settle();
    EXPECT_TRUE(net[1].reads.empty());
    net.pass(3); // asked again by the heartbeat
    EXPECT_EQ(net[1].reads.count(1), 1U);
    // Leadership is lost with a read under way.
    net.isolate(1);
    net.core(1).read_index(2);
    net.pass(20);
    ASSERT_EQ(net[1].failed_reads.size(), 1U);
    EXPECT_EQ(net[1].failed_reads[0], (FailedRead{2, Failure::leadership_lost}));
    net.heal();
    net.elect(1);
    net.core(1).read_index(3);
    net.pass(3);
    EXPECT_EQ(net[1].reads.count(3), 1U);
    EXPECT_EQ(net.core(1).reads_waiting(), 0U);
}

TEST(RaftBug, SD05_ALostBarrierBlocksNoLaterRead) {
    Network net(3);
    net.elect(1);
    net.lose = [](const Message& m) { return m.type == MessageType::heartbeat_reply; };
    net.core(1).read_index(1);
    net.settle();
    net.lose = nullptr;
    for (std::uint64_t read = 2; read < 40; ++read)
        EXPECT_EQ(net.core(1).read_index(read), ReadStatus::accepted);
    net.pass(5);
    EXPECT_EQ(net[1].reads.size(), 39U);
    EXPECT_LE(net.core(1).counters().read_rounds, 3U); // and they shared rounds
}

TEST(RaftBug, SD04_ADelayedAnswerToAnEarlierAttemptConfirmsNothing) {
    Network net(3);
    net.elect(1);
    net.propose(1, "a");
    net.settle();
    // The same context twice; the answers to the first attempt are kept back.
    net.core(1).read_index(7);
    net.drain(1);
    for (const Message& m : net.pull([](const Message& x) { return x.to != 1; }))
        net.core(m.to).step(m);
    net.drain_all();
    const auto answers = net.pull([](const Message& m) { return m.to == 1; });
    ASSERT_EQ(answers.size(), 2U);
    net.core(1).step(answers[0]); // that read is answered
    net.drain(1);
    ASSERT_EQ(net[1].reads.count(7), 1U);
    net[1].reads.clear();
    // 1 is deposed without knowing, something new is committed elsewhere.
    net.isolate(1);
    net.core(2).tick(10);
    net.core(3).tick(10);
    net.core(2).campaign();
    net.settle();
    ASSERT_EQ(net.core(2).role(), Role::leader);
    net.propose(2, "b");
    net.settle();
    ASSERT_EQ(net.core(1).role(), Role::leader);
    EXPECT_EQ(net.core(1).read_index(7), ReadStatus::accepted);
    net.drain(1);
    for (int i = 0; i < 3; ++i) {
        net.core(1).step(answers[0]);
        net.core(1).step(answers[1]);
    }
    net.drain(1);
    EXPECT_TRUE(net[1].reads.empty());
}

TEST(RaftBug, Q8_AReadWaitsUntilItsIndexIsApplied) {
    Network net(3);
    net.elect(1);
    net[1].store.held = true; // applied is what is durable here, too
    net.propose(1, "a");
    net.settle();
    ASSERT_EQ(net.core(1).commit(), 2U); // by the others
    net.core(1).read_index(1);
    net.settle();
    EXPECT_TRUE(net[1].reads.empty());
    EXPECT_TRUE(net[1].applied.empty());
    net[1].store.complete();
    net.settle();
    EXPECT_EQ(net[1].reads.at(1), 2U);
    EXPECT_EQ(net[1].applied.size(), 1U);
}

TEST(RaftBug, Q7_LearnersConfirmNoRead) {
    Network net(3, scripted(), {4, 5});
    net.elect(1);
    net.isolate(2);
    net.isolate(3);
    net.core(1).read_index(1);
    net.pass(4);
    EXPECT_TRUE(net[1].reads.empty()) << "two learners are no quorum";
    net.heal();
    net.pass(3);
    EXPECT_EQ(net[1].reads.count(1), 1U);
}

} // namespace
} // namespace promtact::raft::testing
