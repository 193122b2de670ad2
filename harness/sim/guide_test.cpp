// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/guide.hpp>
#include <promtact/sim/run.hpp>

#include "testing/chatter.hpp"

namespace promtact::sim {
namespace {

using testing::chatter;
using testing::quiet;

const StrategyOptions guided{.kind = StrategyKind::guided, .faults = 4};

TEST(Guide, TheShapeOfAStateIsItsWordsWithoutNumbers) {
    const NodeState leader{.id = NodeId(1), .words = "leader of term 3, 17 entries"};
    const NodeState later{.id = NodeId(1), .words = "leader of term 12, 4 entries"};
    const NodeState follower{.id = NodeId(1), .words = "follower of term 3, 17 entries"};
    NodeState down = leader;
    down.up = false;
    EXPECT_EQ(shape_of({leader}), shape_of({later}));
    EXPECT_NE(shape_of({leader}), shape_of({follower}));
    EXPECT_NE(shape_of({leader}), shape_of({down}));
    EXPECT_NE(shape_of({leader, follower}), shape_of({follower, leader}));
}

TEST(Guide, KeepsOnlyWhatLedSomewhereNew) {
    Guide guide(guided, quiet(), chatter().abilities);
    const Case run = guide.next(1);
    guide.learn(run, {1, 2});
    guide.learn(run, {2, 1});
    EXPECT_EQ(guide.kept(), 1U);
    guide.learn(run, {2, 3});
    EXPECT_EQ(guide.kept(), 2U);
    EXPECT_EQ(guide.shapes(), 3U);
}

TEST(Guide, WhatWasKeptIsChangedALittleAndRunAgain) {
    const Protocol protocol = chatter();
    Guide guide(guided, quiet(), protocol.abilities);
    Case kept = guide.next(1);
    kept.scenario.faults = {
        {.kind = FaultKind::isolate, .start = Step(3), .end = Step(41), .a = {NodeId(2)}},
        {.kind = FaultKind::pause, .start = Step(2), .end = Step(44), .a = {NodeId(1)}}};
    guide.learn(kept, {1});
    std::set<std::size_t> sizes;
    int derived = 0;
    for (std::uint64_t seed = 2; seed <= 400; ++seed) {
        const Case run = guide.next(seed);
        EXPECT_TRUE(protocol.problems(run).empty()) << seed;
        const std::string text = scenario::write_scenario(run.scenario);
        EXPECT_TRUE(scenario::read_scenario(text, "plan").has_value()) << text;
        for (const Fault& fault : run.scenario.faults)
            EXPECT_LE(fault.end.value(), 48U) << "the last fifth is free of faults: " << text;
        const auto is_kept = [](const Fault& fault) { // longer than any that is drawn
            return (fault.start == Step(3) && fault.end == Step(41)) ||
                   (fault.start == Step(2) && fault.end == Step(44));
        };
        const bool known =
            std::any_of(run.scenario.faults.begin(), run.scenario.faults.end(), is_kept);
        derived += known ? 1 : 0;
        if (known) sizes.insert(run.scenario.faults.size());
    }
    EXPECT_GT(derived, 100) << "half of the plans come from what was kept";
    EXPECT_LT(derived, 300);
    EXPECT_EQ(sizes, (std::set<std::size_t>{1, 2, 3})) << "a fault less, as many, a fault more";
}

} // namespace
} // namespace promtact::sim
