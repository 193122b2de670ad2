// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/gates/accepted.hpp>
#include <promtact/gates/freshness.hpp>

#include "testing/evidence_tree_internal.hpp"

namespace promtact::gates {
namespace {

using fakes::catalog_of_two;
using fakes::FakeHistory;
using fakes::good_record;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Freshness, LooksAtTheQualifiedUnitsAndTheGatesFolder) {
    FakeHistory history;
    EXPECT_EQ(to_string(freshness_of(good_record(1), catalog_of_two, history)), "current");
    EXPECT_THAT(history.asked, ElementsAre("uring", "gates/good", "gates/kernel_support"));
}

TEST(Freshness, IgnoresWhatCannotChangeAnAnswer) {
    FakeHistory history;
    history.changed = {
        "uring/README.md", "uring/ring_test.cpp", "uring/writer_fixture_internal.hpp",
        "uring/corpus/x/1"};
    EXPECT_EQ(to_string(freshness_of(good_record(1), catalog_of_two, history)), "current");
    history.changed->push_back("uring/CMakeLists.txt");
    EXPECT_EQ(
        to_string(freshness_of(good_record(1), catalog_of_two, history)),
        "stale: uring/CMakeLists.txt changed since");
}

TEST(Freshness, FollowsTheRevisionOfTheGate) {
    FakeHistory history;
    GateRecord record = good_record(1);
    record.revision = 7;
    EXPECT_THAT(
        to_string(freshness_of(record, catalog_of_two, history)),
        HasSubstr("the gate is at revision 1, the result at 7"));
    record.id = "gone";
    EXPECT_THAT(to_string(freshness_of(record, catalog_of_two, history)), HasSubstr("is gone"));
}

TEST(Accepted, RefusesWhatIsNoCampaignOrTwice) {
    const std::string name = "20261129T204820Z-0123456789ab";
    const std::string one = R"({"host": "h", "campaign": ")" + name + R"("})";
    const auto wrap = [](const std::string& list) {
        return R"({"schema": "promtact.accepted/1", "accepted": [)" + list + "]}";
    };
    EXPECT_TRUE(accepted_from_json(wrap(one), "a.json"));
    EXPECT_FALSE(accepted_from_json(wrap(one + "," + one), "a.json"));
    EXPECT_FALSE(accepted_from_json(wrap(R"({"host": "..", "campaign": "x"})"), "a.json"));
    EXPECT_FALSE(accepted_from_json(R"({"schema": "other", "accepted": []})", "a.json"));
}

} // namespace
} // namespace promtact::gates
