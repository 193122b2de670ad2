// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/json_reader.hpp>
#include <promtact/gates/compare.hpp>

#include "testing/evidence_tree_internal.hpp"

namespace promtact::gates {
namespace {

using fakes::place_of;
using fakes::Tree;
using testing::HasSubstr;

TEST(Compare, ShowsRatiosAndWhatMakesThemDoubtful) {
    Tree tree;
    const CampaignName first = tree.add(1000);
    const CampaignName second = tree.add(2000, [](GateRecord& record) { record.revision = 2; });
    const auto a = load_campaign(tree.root() / place_of(first));
    auto b = load_campaign(tree.root() / place_of(second));
    ASSERT_TRUE(a);
    ASSERT_TRUE(b);
    b->facts.kernel.release = "6.19.0";

    const Comparison comparison = compare_campaigns(*a, *b);
    const std::string text = comparison_text(*a, *b, comparison);

    EXPECT_THAT(text, HasSubstr("kernel differs: 6.18.0 and 6.19.0"));
    EXPECT_THAT(text, HasSubstr("pass (other revision)"));
    EXPECT_THAT(text, testing::ContainsRegex("good +latency +p50 .* 2\\.00"));
    EXPECT_THAT(text, testing::ContainsRegex("good +rate +value +5 +5 +1\\.000"));
    EXPECT_TRUE(read_json(comparison_json(*a, *b, comparison), "x"));
}

TEST(Compare, NamesWhatOneCampaignLacks) {
    Tree tree;
    const CampaignName first = tree.add(1000);
    auto a = load_campaign(tree.root() / place_of(first));
    Campaign b = *a;
    b.records.pop_back();
    b.records.front().measurements.pop_back();
    const Comparison comparison = compare_campaigns(*a, b);
    const std::string text = comparison_text(*a, b, comparison);
    EXPECT_THAT(text, testing::ContainsRegex("grey_one +unsupported +absent"));
    EXPECT_THAT(text, testing::ContainsRegex("good +rate +value +5 +- +-"));
}

} // namespace
} // namespace promtact::gates
