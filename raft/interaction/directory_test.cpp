// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <promtact/base/env.hpp>

#include "directory.hpp"
#include "temporary_directory.hpp"
#include "test_paths.hpp"

namespace promtact::raft::interaction {
namespace {

using promtact::test_support::TemporaryDirectory;

void write(const std::filesystem::path& path, std::string_view text) {
    std::ofstream(path) << text;
}

std::string told(const std::filesystem::path& path) {
    auto report = compare_directory(path);
    return report ? to_string(*report) : report.error().context;
}

TEST(InteractionFiles, OursAreEqual) {
    auto report = compare_directory(test_source_path("raft/interaction/testdata"));
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->passed()) << to_string(*report);
    EXPECT_EQ(report->compared(), 4U) << to_string(*report);
}

TEST(InteractionFiles, ThoseOfTheDirectoryInTheEnvironmentAreEqual) {
    const std::optional<std::string> directory = environment_value("PROMTACT_ETCD_FILES");
    if (!directory.has_value()) GTEST_SKIP() << "PROMTACT_ETCD_FILES names no directory";
    auto report = compare_directory(*directory);
    ASSERT_TRUE(report) << report.error().context;
    EXPECT_TRUE(report->passed()) << to_string(*report);
}

TEST(InteractionFiles, ADifferenceIsToldAndFails) {
    const TemporaryDirectory directory;
    write(
        directory / "votes.txt", "vote cfg=(1,2,3) votes=(y,y,n)\n----\nVoteWon\n\n"
                                 "vote cfg=(1,2,3) votes=(y,n,n)\n----\nVoteWon\n");
    auto report = compare_directory(directory.path());
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->passed());
    EXPECT_EQ(
        to_string(*report), "votes.txt: 2 stanzas, 1 equal, 1 different\n"
                            "  at line 5, vote\n"
                            "  expected\n    VoteWon\n"
                            "  got\n    VoteLost\n"
                            "1 files, 1 compared: 2 stanzas, 1 equal\n");
}

TEST(InteractionFiles, ADirectoryWithoutFilesDoesNotPass) {
    const TemporaryDirectory directory;
    auto report = compare_directory(directory.path());
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->passed());
    EXPECT_FALSE(compare_directory(directory / "missing"));
}

TEST(InteractionFiles, AFileThatCannotBeReadDoesNotPass) {
    const TemporaryDirectory directory;
    write(directory / "good.txt", "vote\n----\nVoteWon\n");
    EXPECT_TRUE(compare_directory(directory.path())->passed());
    write(directory / "torn.txt", "vote\n");
    EXPECT_FALSE(compare_directory(directory.path())->passed());
    EXPECT_NE(
        told(directory.path()).find("torn.txt: unreadable: line 1: no ---- follows"),
        std::string::npos);
    EXPECT_TRUE(compare_directory(directory / "good.txt")->passed());
}

TEST(InteractionFiles, AStanzaThatCannotBeRunIsADifference) {
    const TemporaryDirectory directory;
    const auto outcome = [&directory](std::string_view stanza) {
        write(directory / "one.txt", std::string(stanza) + "\n----\nnever said\n");
        return told(directory / "one.txt");
    };
    const auto says = [&outcome](std::string_view stanza, std::string_view what) {
        return outcome(stanza).find("cannot run: " + std::string(what)) != std::string::npos;
    };
    EXPECT_TRUE(says("vote cfg=(1,2) votes=(y)", "fewer values than members"));
    EXPECT_TRUE(says("vote cfg=(1) votes=(y,y)", "more values than members"));
    EXPECT_TRUE(says("vote cfg=(1) votes=(x)", "\"x\" is not y, n or _"));
    EXPECT_TRUE(says("committed cfg=(1) idx=(0)", "index 0 is written _"));
    EXPECT_TRUE(says("committed cfg=(0) idx=(1)", "cfg holds member 0"));
    EXPECT_TRUE(says("committed cfg=(1) idx=(1) more=2", "argument more is not known"));
    EXPECT_TRUE(says("simple\nx1", "\"x1\" is not v, l, r or u and a member"));
    EXPECT_TRUE(says("simple\nv", "\"v\" is not v, l, r or u and a member"));
    EXPECT_TRUE(says("leave-joint\nv1", "leave-joint takes no input"));
    EXPECT_TRUE(says("enter-joint autoleave=maybe", "autoleave is neither true nor false"));
}

TEST(InteractionFiles, StatesOfNodesAreComparedAndADifferenceFails) {
    const TemporaryDirectory directory;
    const std::string begin = "add-nodes 3 voters=(1,2,3) index=4\n----\nok\n\n"
                              "log-level none\n----\nok\n\ncampaign 2\n----\nok\n\n"
                              "stabilize\n----\nok\n\nlog-level info\n----\nok\n\n"
                              "process-ready 2\n----\nReady MustSync=true:\n";
    const auto told_of = [&](const std::string& line) {
        write(directory / "nodes.txt", begin + line);
        return told(directory.path());
    };
    EXPECT_EQ(
        told_of("HardState Term:1 Vote:2 Commit:5\n"),
        "nodes.txt: 6 stanzas, 3 with states, 6 equal, 0 different\n"
        "1 files, 1 compared: 6 stanzas, 6 equal\n");
    EXPECT_EQ(
        told_of("Lead:3 State:StateFollower\nHardState Term:2 Commit:4\n"),
        "nodes.txt: 6 stanzas, 3 with states, 5 equal, 1 different\n"
        "  at line 21, process-ready\n"
        "  got\n"
        "    node 2: role leader instead of follower\n"
        "    node 2: term 1 instead of 2\n"
        "    node 2: vote 2 instead of 0\n"
        "    node 2: leader 2 instead of 3\n"
        "    node 2: commit 5 instead of 4\n"
        "1 files, 1 compared: 6 stanzas, 5 equal\n");
    EXPECT_FALSE(compare_directory(directory.path())->passed());
    EXPECT_NE(
        told_of("Entries:\n1/5 EntryNormal \"never\"\n").find("entry 5 1 \"\" instead of"),
        std::string::npos);
    EXPECT_NE(told_of("\nfly 2\n----\n").find("unknown command fly"), std::string::npos);
}

/// Theirs counts with two new voters only once the change is applied, ours at once.
std::string joint_file(std::string_view term) {
    std::string text = "add-nodes 1 voters=(1) index=2\n----\nok\n\nlog-level none\n----\nok\n\n"
                       "campaign 1\n----\nok\n\nstabilize\n----\nok\n\n"
                       "propose-conf-change 1\nv2 v3\n----\nok\n\n"
                       "log-level info\n----\nok\n\n"
                       "stabilize 1\n----\n> 1 handling Ready\n  Ready MustSync=true:\n"
                       "  HardState Term:";
    text += term;
    return text + " Vote:1 Commit:5\n  Entries:\n  1/4 EntryConfChangeV2 v2 v3\n"
                  "  1/5 EntryConfChangeV2\n";
}

TEST(InteractionFiles, AnIntendedDifferencePassesAndNamesItsReason) {
    const TemporaryDirectory directory;
    write(directory / "joint.txt", joint_file("1"));
    auto report = compare_directory(directory.path());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->passed()) << to_string(*report);
    EXPECT_NE(
        to_string(*report).find("1 different, 1 of them intended\n"
                                "  at line 26, stabilize, intended: configuration_on_append\n"),
        std::string::npos)
        << to_string(*report);
}

TEST(InteractionFiles, AReasonDoesNotCoverWhatItIsNotAbout) {
    const TemporaryDirectory directory;
    write(directory / "joint.txt", joint_file("7"));
    EXPECT_FALSE(compare_directory(directory.path())->passed()) << told(directory.path());
}

} // namespace
} // namespace promtact::raft::interaction
