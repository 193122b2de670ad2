// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <initializer_list>
#include <string_view>

#include <gtest/gtest.h>

#include "transcript.hpp"

namespace promtact::raft::interaction {
namespace {

/// Two new nodes, then the texts one after the other.
Transcript read(std::initializer_list<std::string_view> texts) {
    Transcript transcript;
    const auto take = [&transcript](std::string_view text) {
        auto stanzas = parse_stanzas(text);
        EXPECT_TRUE(stanzas) << stanzas.error().context;
        for (const Stanza& stanza : *stanzas)
            transcript.read(stanza);
    };
    take("add-nodes 2 voters=(1,2) index=3\n----\nok\n");
    for (const std::string_view text : texts)
        take(text);
    return transcript;
}

TEST(Transcript, NewNodesAreKnown) {
    const Transcript transcript = read({});
    ASSERT_EQ(transcript.nodes().size(), 2U);
    const KnownState& node = transcript.nodes().at(2);
    EXPECT_EQ(node.role, Role::follower);
    EXPECT_EQ(node.term, 0U);
    EXPECT_EQ(node.commit, 3U);
    EXPECT_EQ(node.last, 3U);
}

TEST(Transcript, BatchesOfSeveralNodesAreToldApart) {
    const Transcript transcript = read({"stabilize\n----\n"
                                        "> 1 handling Ready\n"
                                        "  Ready MustSync=true:\n"
                                        "  Lead:0 State:StatePreCandidate\n"
                                        "  HardState Term:4 Vote:1 Commit:3\n"
                                        "  Entries:\n"
                                        "  4/4 EntryNormal \"one \"two\"\"\n"
                                        "  4/5 EntryConfChangeV2 v3\n"
                                        "  CommittedEntries:\n"
                                        "  1/9 EntryNormal \"not in the log\"\n"
                                        "  Messages:\n"
                                        "  1->2 MsgApp Term:9 Log:1/2 Commit:2 Entries:[\n"
                                        "    8/8 EntryNormal \"neither\"\n"
                                        "  ]\n"
                                        "> 2 receiving messages\n"
                                        "  Lead:7 State:StateLeader\n"
                                        "> 2 handling Ready\n"
                                        "  HardState Term:5 Commit:3\n"});
    const KnownState& first = transcript.nodes().at(1);
    EXPECT_EQ(first.role, Role::pre_candidate);
    EXPECT_EQ(first.leader, no_node);
    EXPECT_EQ(first.term, 4U);
    EXPECT_EQ(first.vote, 1U);
    EXPECT_EQ(first.last, 5U);
    ASSERT_EQ(first.log.size(), 2U);
    EXPECT_EQ(first.log.at(4).payload, "one \"two\"");
    EXPECT_TRUE(first.log.at(5).configuration);
    const KnownState& second = transcript.nodes().at(2);
    EXPECT_EQ(second.role, Role::follower);
    EXPECT_EQ(second.term, 5U);
    EXPECT_EQ(second.vote, no_node);
}

TEST(Transcript, OneNodeAloneNeedsNoHeadline) {
    const Transcript transcript = read({"process-ready 2\n----\nReady MustSync=false:\n"
                                        "Lead:1 State:StateFollower\n"
                                        "Snapshot Index:8 Term:2 ConfState:Voters:[1 2]\n"});
    EXPECT_EQ(transcript.nodes().at(2).leader, 1U);
    EXPECT_EQ(transcript.nodes().at(2).last, 8U);
    EXPECT_EQ(transcript.nodes().at(1).leader, no_node);
}

TEST(Transcript, LaterEntriesReplaceWhatLiesBehindThem) {
    const Transcript transcript = read({"raft-log 1\n----\n1/4 EntryNormal \"a\"\n"
                                        "1/5 EntryNormal \"b\"\n\n"
                                        "process-ready 1\n----\nReady MustSync=true:\nEntries:\n"
                                        "2/4 EntryNormal \"c\"\n"});
    const KnownState& node = transcript.nodes().at(1);
    EXPECT_EQ(node.last, 4U);
    ASSERT_EQ(node.log.size(), 1U);
    EXPECT_EQ(node.log.at(4).payload, "c");
}

TEST(Transcript, WhatHappensInSilenceIsForgotten) {
    constexpr std::string_view silence = "log-level none\n----\nok\n";
    EXPECT_FALSE(read({silence}).nodes().at(1).empty());
    EXPECT_FALSE(read({silence, "raft-state\n----\nok\n"}).nodes().at(1).empty());
    EXPECT_TRUE(read({silence, "campaign 1\n----\nok\n"}).nodes().at(1).empty());
}

TEST(Transcript, StatesOnDemandAreOfThatStanzaAlone) {
    constexpr std::string_view states = "raft-state\n----\n"
                                        "1: StateLeader (Voter) Term:2 Lead:1\n"
                                        "2: StateCandidate (Non-Voter) Term:3 Lead:0\n";
    const Transcript transcript = read({states});
    ASSERT_EQ(transcript.shown().size(), 2U);
    EXPECT_EQ(transcript.shown().at(1).role, Role::leader);
    EXPECT_EQ(transcript.shown().at(2).role, Role::candidate);
    EXPECT_EQ(transcript.shown().at(2).term, 3U);
    EXPECT_TRUE(read({states, "status 1\n----\nok\n"}).shown().empty());
}

} // namespace
} // namespace promtact::raft::interaction
