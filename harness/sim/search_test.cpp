// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/sim/session.hpp>

#include "temporary_directory.hpp"
#include "testing/chatter.hpp"

#include <paxos/protocol.hpp>

namespace promtact::sim {
namespace {

using engine::ExploreBounds;
using engine::Verdict;
using ::testing::HasSubstr;

Scenario three() {
    return {.name = "three", .seed = 1, .nodes = 3, .steps = 100, .drop = Ppm(100'000)};
}
Protocol forgetful() {
    return paxos::protocol({.promise_not_durable = true});
}

TEST(Search, CountsAreReproducible) {
    const auto report = search(paxos::protocol(), three(), {.commands = 1, .crashes = 1});
    ASSERT_TRUE(report.has_value());
    const auto again = search(paxos::protocol(), three(), {.commands = 1, .crashes = 1});
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(report->found.distinct, again->found.distinct);
    EXPECT_EQ(report->found.transitions, again->found.transitions);
    EXPECT_EQ(report->found.depth, again->found.depth);
    EXPECT_EQ(report->found.taken, again->found.taken);
    EXPECT_EQ(report->found.verdict, Verdict::vacuous) << "one proposer adopts nothing";
    EXPECT_THAT(report->found.text, HasSubstr("adopted"));
    EXPECT_EQ(report->scenario.drop, Ppm{}) << "what does not count is not kept";
}

/// Fingerprinted, but there is only one.
struct Unique : testing::Chatter {
    using Chatter::Chatter;
    Unique(const Unique&) = delete;
    Unique& operator=(const Unique&) = delete;
    [[nodiscard]] Digest128 fingerprint() const { return {0, highest}; }
};

TEST(Search, AProtocolWithoutTheCapabilityIsRefused) {
    const auto report = search(testing::chatter(), three(), {});
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, Errc::unsupported);
    EXPECT_EQ(
        report.error().context,
        "the protocol \"chatter\" cannot be searched exhaustively: the cluster has no "
        "fingerprint(); its parts have no prepare_search");
    Parts<Unique> parts;
    parts.make = [](const Scenario& scenario) {
        return std::make_unique<Unique>(scenario.nodes, testing::ChatterMistakes{});
    };
    EXPECT_EQ(
        protocol<Unique>("unique", parts).search.lacks,
        "the cluster has neither a copy constructor nor clone(); its parts have no prepare_search");
}

TEST(Search, AGoalThatItDoesNotKnowIsNotReached) {
    Scenario scenario = three();
    scenario.expect.goals = {"a value is chosen"};
    const auto good = search(paxos::protocol(), scenario, {});
    ASSERT_TRUE(good.has_value());
    EXPECT_EQ(good->found.verdict, Verdict::pass) << good->found.text;
    scenario.expect.goals.push_back("the moon is full");
    const auto report = search(paxos::protocol(), scenario, {});
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->found.verdict, Verdict::vacuous);
}

TEST(Search, AFileIsWhatWasWritten) {
    const auto report = search(forgetful(), three(), {.commands = 1, .crashes = 1});
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->found.verdict, Verdict::fail);
    ASSERT_FALSE(report->story.places.empty());
    const std::string text = write_search(*report);
    EXPECT_TRUE(is_search(text));
    const auto read = read_search(text, "it");
    ASSERT_TRUE(read.has_value()) << read.error().context;
    EXPECT_EQ(write_search(*read), text);
    EXPECT_EQ(read->bounds, report->bounds);

    const auto same = retrace(forgetful(), *read);
    ASSERT_TRUE(same.has_value());
    EXPECT_EQ(first_difference(read->story, *same), std::nullopt);
    const auto without = retrace(paxos::protocol(), *read);
    ASSERT_TRUE(without.has_value());
    const auto difference = first_difference(read->story, *without);
    ASSERT_TRUE(difference.has_value()) << "without the mistake it goes another way";
    EXPECT_THAT(*difference, HasSubstr("state "));
}

TEST(Search, EveryChangeOfAKeptPathIsNoticed) {
    const auto report = search(forgetful(), three(), {.commands = 1, .crashes = 1});
    ASSERT_TRUE(report.has_value());
    const auto differs = [&](auto change) {
        SearchReport changed = *report;
        change(changed);
        const auto now = retrace(forgetful(), changed);
        return now.has_value() && first_difference(changed.story, *now).has_value();
    };
    EXPECT_FALSE(differs([](SearchReport&) {})) << "control";
    EXPECT_TRUE(differs([](SearchReport& one) { ++one.story.places[0].state.low; }));
    EXPECT_TRUE(differs([](SearchReport& one) { one.story.places[1].nodes[0].words = "x"; }));
    EXPECT_TRUE(differs([](SearchReport& one) { one.story.broken.text = "x"; }));
    EXPECT_TRUE(differs([](SearchReport& one) { one.found.path[1].node = NodeId(9); }));
    EXPECT_TRUE(differs([](SearchReport& one) { one.scenario.nodes = 5; }));
}

TEST(SearchBounds, AreReadFromAListOrAFile) {
    const auto list = parse_bounds("nodes=3,states=77,depth=9,commands=4,crashes=1,drops=2,"
                                   "duplicates=3,timeouts=5,ticks=6,underWay=8");
    ASSERT_TRUE(list.has_value()) << list.error().context;
    EXPECT_EQ(list->nodes, 3U);
    EXPECT_EQ(
        list->explore, (ExploreBounds{
                           .states = 77,
                           .depth = 9,
                           .commands = 4,
                           .ticks = 6,
                           .timeouts = 5,
                           .losses = 2,
                           .copies = 3,
                           .crashes = 1,
                           .under_way = 8}));
    const test_support::TemporaryDirectory directory;
    const auto path = directory / "file.json";
    JsonWriter json;
    write_bounds(json, list->explore);
    ASSERT_TRUE(write_file_atomic(path, json.finish()).has_value());
    const auto file = parse_bounds(path.string());
    ASSERT_TRUE(file.has_value()) << file.error().context;
    EXPECT_EQ(file->explore, list->explore);
    EXPECT_EQ(file->nodes, 0U);
    ASSERT_TRUE(write_file_atomic(path, "{\"dance\": 1}").has_value());
    EXPECT_FALSE(parse_bounds(path.string()).has_value());
    EXPECT_EQ(parse_bounds("")->explore, ExploreBounds{});
}

TEST(SearchBounds, WhatIsWrongIsNamed) {
    for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
             {"states=0", "must be 1 to"},
             {"nodes=65", "must be 1 to 64"},
             {"states=x", "whole number"},
             {"crash=1", "there are only the bounds nodes, states"},
             {"states=5,", ""},
             {"states=5,crashes", "is no bound"},
             {"/no/such/file", "/no/such/file"}}) {
        const auto bounds = parse_bounds(text);
        if (part.empty()) {
            EXPECT_TRUE(bounds.has_value()) << text;
            continue;
        }
        ASSERT_FALSE(bounds.has_value()) << text;
        EXPECT_THAT(bounds.error().context, HasSubstr(part));
    }
}

} // namespace
} // namespace promtact::sim
