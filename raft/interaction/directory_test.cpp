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
    EXPECT_EQ(report->compared(), 2U) << to_string(*report);
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
                            "  first at line 5, vote\n"
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

TEST(InteractionFiles, FilesOfNodesAreNamedAndNotCounted) {
    const TemporaryDirectory directory;
    write(directory / "nodes.txt", "add-nodes 3\n----\nok\n");
    EXPECT_EQ(
        told(directory.path()), "nodes.txt: not compared: needs nodes\n"
                                "1 files, 0 compared: 0 stanzas, 0 equal\n");
}

} // namespace
} // namespace promtact::raft::interaction
