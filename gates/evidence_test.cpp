// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/evidence.hpp>

#include "testing/evidence_tree_internal.hpp"

namespace promtact::gates {
namespace {

using fakes::catalog_of_two;
using fakes::FakeHistory;
using fakes::Tree;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Evidence, ChecksCleanAfterRendering) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.add(1500);
    tree.render(history);
    const Findings findings = tree.check(history);
    EXPECT_THAT(findings.problems, IsEmpty());
    EXPECT_THAT(findings.notes, IsEmpty());
}

TEST(Evidence, RendersTheSameBytesEveryTime) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.render(history);
    const std::string before = tree.read("results/EVIDENCE.md");
    Findings findings;
    const auto changed = write_documents(
        tree.root(),
        render_evidence(
            load_evidence(tree.root(), catalog_of_two, history, findings), catalog_of_two));
    EXPECT_THAT(*changed, IsEmpty());
    EXPECT_EQ(tree.read("results/EVIDENCE.md"), before);
}

TEST(Evidence, SaysWhatAResultDoesNotEstablishAndKeepsGreyGrey) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    tree.render(history);
    EXPECT_THAT(
        tree.read("results/EVIDENCE.md"),
        AllOf(
            HasSubstr("Does not establish: anything about this host"),
            HasSubstr("grey: unsupported"), HasSubstr("needs CONFIG\\_NET\\_SCH\\_NETEM"),
            HasSubstr("observed fail (it is off)"), HasSubstr("A \\| B &lt;C&gt;")));
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("| uring | good | pass | test-host |"));
    EXPECT_THAT(tree.read("README.md"), AllOf(HasSubstr("latency p50"), HasSubstr("\n\nend\n")));
}

TEST(Evidence, DrawsCurvesOfEarlierCampaignsBesideTheNewest) {
    Tree tree;
    FakeHistory history;
    const CampaignName first = tree.add(1000);
    const CampaignName second = tree.add(1500);
    tree.render(history);
    const std::string page = tree.read("results/hosts/test-host/README.md");
    EXPECT_THAT(page, HasSubstr("(figures/good.latency.svg)"));
    EXPECT_THAT(
        tree.read("results/hosts/test-host/figures/good.latency.cdf.svg"),
        AllOf(HasSubstr(first.campaign), HasSubstr(second.campaign)));
}

TEST(Evidence, ANewerCampaignReplacesOnlyWhatItAnswered) {
    Tree tree;
    FakeHistory history;
    tree.add(1000);
    const CampaignName second = tree.add(1500, {}, false);
    tree.render(history);
    for (const char* page : {"results/EVIDENCE.md", "results/hosts/test-host/README.md"}) {
        EXPECT_THAT(
            tree.read(page), AllOf(HasSubstr("grey: unsupported"), HasSubstr(second.campaign)))
            << page;
    }
    EXPECT_THAT(tree.read("README.md"), HasSubstr("| kernel | grey\\_one | grey: unsupported |"));
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("| uring | grey\\_one | grey:"));
}

TEST(Evidence, WithoutAcceptedResultsClaimsNothing) {
    Tree tree;
    FakeHistory history;
    tree.write("results/accepted.json", to_json(std::vector<CampaignName>{}));
    tree.render(history);
    EXPECT_THAT(tree.read("results/EVIDENCE.md"), HasSubstr("No result has been accepted yet."));
    EXPECT_THAT(tree.read("results/STATUS.md"), HasSubstr("| uring | good | no accepted result |"));
    EXPECT_THAT(tree.check(history).problems, IsEmpty());
}

} // namespace
} // namespace promtact::gates
