// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/evidence.hpp>

#include "testing/evidence_tree_internal.hpp"

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;
using fakes::FakeHistory;
using fakes::place_of;
using fakes::Tree;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct Sabotage {
    const char* name;
    std::function<void(Tree&, FakeHistory&, const CampaignName&)> act;
    const char* says;
};

class EvidenceCheck : public testing::TestWithParam<Sabotage> {};

TEST_P(EvidenceCheck, FailsWhen) {
    Tree tree;
    FakeHistory history;
    const CampaignName name = tree.add(1000);
    tree.render(history);
    ASSERT_THAT(tree.check(history).problems, IsEmpty());

    GetParam().act(tree, history, name);

    EXPECT_THAT(tree.check(history).problems, Contains(HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    Pages, EvidenceCheck,
    testing::Values(
        Sabotage{
            "AFigureIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("results/EVIDENCE.md", "500 of 500", "501 of 501");
            },
            "results/EVIDENCE.md:"},
        Sabotage{
            "StatusIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("results/STATUS.md", "| grey: unsupported |", "| pass |");
            },
            "results/STATUS.md:"},
        Sabotage{
            "TheReadmeBlockIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("README.md", "latency p50", "latency p51");
            },
            "README.md:"},
        Sabotage{
            "TheReadmeHasNoMarkers",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("README.md", std::string(figures_end), "");
            },
            "README.md needs"},
        Sabotage{
            "APageIsMissing",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                fs::remove(tree.root() / "results/hosts/test-host/README.md");
            },
            "test-host/README.md: is missing"},
        Sabotage{
            "APictureIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace(
                    "results/hosts/test-host/figures/good.latency.svg", "500 samples", "x");
            },
            "good.latency.svg:"}),
    [](const testing::TestParamInfo<Sabotage>& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Results, EvidenceCheck,
    testing::Values(
        Sabotage{
            "AStrayPageLiesAround",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.write("results/hosts/old-host/README.md", "old");
            },
            "old-host/README.md: nothing renders it"},
        Sabotage{
            "AResultIsEdited",
            [](Tree& tree, FakeHistory&, const CampaignName& n) {
                tree.replace(place_of(n) / "good.json", "\"value\": 5", "\"value\": 6");
            },
            "checksum differs"},
        Sabotage{
            "TheCampaignIsUnknown",
            [](Tree& tree, FakeHistory&, const CampaignName& n) {
                fs::remove_all(tree.root() / place_of(n));
            },
            "there is no campaign"},
        Sabotage{
            "TheCommitIsNoAncestor",
            [](Tree&, FakeHistory& h, const CampaignName&) { h.relation = Ancestry::stranger; },
            "is no ancestor"},
        Sabotage{
            "AcceptedHasAnUnknownField",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.replace("results/accepted.json", "\"host\"", "\"hots\"");
            },
            "unknown field \"hots\""},
        Sabotage{
            "AStaleResultIsCalledCurrent",
            [](Tree&, FakeHistory& h, const CampaignName&) { h.changed = {"uring/ring.cpp"}; },
            "calls current what is stale"},
        Sabotage{
            "AFigureIsTypedByHand",
            [](Tree& tree, FakeHistory&, const CampaignName&) {
                tree.write("docs/x.md", "It takes 5 ms.\n");
            },
            "docs/x.md:1:10: figure \"5 ms\""},
        Sabotage{
            "AnUnacceptedCampaignIsBroken",
            [](Tree& tree, FakeHistory&, const CampaignName& n) {
                const fs::path other =
                    tree.root() / "results/hosts/test-host/20200101T000000Z-0123456789ab";
                fs::copy(tree.root() / place_of(n), other);
                fs::remove(other / "good.json");
            },
            "20200101T000000Z-0123456789ab/good.json"}),
    [](const testing::TestParamInfo<Sabotage>& row) { return row.param.name; });

TEST(EvidenceCheck, RefusesADirtyTreeAndAnUnknownCommit) {
    for (const bool dirty : {true, false}) {
        Tree tree;
        FakeHistory history;
        tree.add(1000, [&](GateRecord& record) {
            record.run.dirty = dirty;
            if (!dirty) record.run.commit = "unknown";
        });
        EXPECT_THAT(
            tree.check(history).problems,
            Contains(HasSubstr("good.json: comes from a tree that is no commit")));
    }
}

TEST(EvidenceCheck, AcceptsPagesThatShowAResultAsStale) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    history.changed = {"uring/ring.cpp"};
    tree.render(history);
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("stale: uring/ring.cpp changed since"));
    EXPECT_THAT(tree.check(history).problems, IsEmpty());
}

TEST(EvidenceCheck, OnlyNotesFreshnessItCannotTellOrThatIsUnderstated) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.render(history);
    history.changed = std::nullopt;
    history.relation = Ancestry::unknown;
    const Findings blind = tree.check(history);
    EXPECT_THAT(blind.problems, IsEmpty());
    EXPECT_THAT(blind.notes, Contains(HasSubstr("freshness has changed")));
    EXPECT_THAT(blind.notes, Contains(HasSubstr("cannot tell whether commit")));
}

} // namespace
} // namespace promtact::gates
