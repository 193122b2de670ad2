// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/sim/shrink.hpp>

#include "minimise_internal.hpp"
#include "testing/chatter.hpp"

#include <paxos/protocol.hpp>

namespace promtact::sim {
namespace {

using testing::chatter;
using testing::quiet;

bool never() {
    return false;
}

TEST(Minimise, KeepsWhatIsNeededAndNothingElse) {
    std::vector<int> items(100);
    for (int i = 0; i < 100; ++i)
        items[static_cast<std::size_t>(i)] = i;
    std::size_t asked = 0;
    const auto kept = minimise(
        items,
        [&](const std::vector<int>& some) {
            ++asked;
            const auto has = [&](int x) {
                return std::find(some.begin(), some.end(), x) != some.end();
            };
            return has(3) && has(42) && has(97);
        },
        never);
    EXPECT_EQ(kept, (std::vector<int>{3, 42, 97}));
    EXPECT_LT(asked, 200U);
    EXPECT_TRUE(minimise(
                    items, [](const std::vector<int>&) { return true; }, never)
                    .empty());
    EXPECT_EQ(
        minimise(
            items, [](const std::vector<int>&) { return false; }, never),
        items);
}

TEST(Minimise, AsksNothingMoreOnceItIsOver) {
    std::size_t asked = 0;
    const auto kept = minimise(
        std::vector<int>(10'000, 1),
        [&](const std::vector<int>& some) { return ++asked < 3 && !some.empty(); },
        [&] { return asked >= 5; });
    EXPECT_EQ(asked, 5U);
    EXPECT_LT(kept.size(), 10'000U);
}

Case failing() {
    Case run{.scenario = quiet(400)};
    run.scenario.drop = Ppm(100'000);
    run.scenario.max_delay = {6};
    run.scenario.duplicate = Ppm(50'000);
    run.scenario.propose_every = {17};
    run.scenario.restart_every = {23};
    for (std::uint64_t at = 20; at < 100; at += 20) {
        run.scenario.faults.push_back(
            {.kind = FaultKind::isolate, .start = Step(at), .end = Step(at + 9), .a = {NodeId(3)}});
    }
    return run;
}

TEST(Shrink, ReducesFaultsNodesStepsAndFates) {
    const Protocol protocol = chatter({.limit = 450});
    const ShrinkReport report = shrink(protocol, failing());
    EXPECT_TRUE(report.finished);
    EXPECT_EQ(report.small.outcome.property, "no number is above the limit");
    EXPECT_EQ(report.before.faults, 4U);
    EXPECT_EQ(report.after.faults, 0U);
    EXPECT_EQ(report.after.fates, 0U);
    EXPECT_EQ(report.after.restarts, 0U);
    EXPECT_EQ(report.after.nodes, 1U);
    EXPECT_LE(report.after.steps, report.before.steps);
    EXPECT_EQ(report.after.commands, 4U) << "fewer do not reach the limit in these steps";
    // And what is small fails by itself, in the same way.
    const RunReport again = run_case(protocol, report.small.run);
    EXPECT_TRUE(same_failure(outcome_of(again), report.small.outcome));
    EXPECT_EQ(again.end.trace, report.small.outcome.trace);
}

TEST(Shrink, ReducesCommandsAndKeepsTheRestartsThatAreNeeded) {
    const ShrinkReport report = shrink(chatter({.crashes_max = 2}), failing());
    EXPECT_EQ(report.small.outcome.property, "few crashes");
    EXPECT_EQ(report.before.commands, 4U);
    EXPECT_EQ(report.after.commands, 0U);
    EXPECT_EQ(report.before.restarts, 3U);
    EXPECT_EQ(report.after.restarts + report.after.faults, 3U) << "as faults of their own";
}

// T7: another failure on the way is not taken for the one that is made small.
TEST(Shrink, T7StaysWithTheFailureItWasGiven) {
    Parts<testing::Chatter> parts;
    parts.make = [](const Scenario& scenario) {
        return std::make_unique<testing::Chatter>(scenario.nodes, testing::ChatterMistakes{});
    };
    parts.prepare = [](Parts<testing::Chatter>::Engine& engine, testing::Chatter& cluster) {
        // With crashes one property breaks, without them at the same step another one.
        engine.watch("crashed early", [&]() -> std::optional<engine::Broken> {
            if (cluster.highest < 30 || cluster.crashes == 0) return std::nullopt;
            return engine::Broken{.text = "x", .key = "a"};
        });
        engine.watch("never crashed", [&]() -> std::optional<engine::Broken> {
            if (cluster.highest < 30 || cluster.crashes > 0) return std::nullopt;
            return engine::Broken{.text = "x", .key = "a"};
        });
    };
    const Protocol protocol = promtact::sim::protocol<testing::Chatter>("two", std::move(parts));
    Case run{.scenario = quiet(100)};
    run.scenario.restart_every = {10};
    const ShrinkReport report = shrink(protocol, run);
    EXPECT_EQ(report.small.outcome.property, "crashed early");
    EXPECT_EQ(report.after.restarts + report.after.faults, 1U) << "one is needed";
}

/// Broken at step 50 when node 2 has not heard the first number, and nodes 1 and 3 heard as many.
Protocol uneven() {
    Parts<testing::Chatter> parts;
    parts.make = [](const Scenario& scenario) {
        return std::make_unique<testing::Chatter>(scenario.nodes, testing::ChatterMistakes{});
    };
    parts.prepare = [](Parts<testing::Chatter>::Engine& engine, testing::Chatter& cluster) {
        engine.watch("unevenly heard", [&]() -> std::optional<engine::Broken> {
            if (engine.now() < Step(50) || std::as_const(cluster).nodes().size() < 3 ||
                cluster.heard[NodeId(2)].count(1) > 0 ||
                cluster.heard[NodeId(1)].size() != cluster.heard[NodeId(3)].size())
                return std::nullopt;
            return engine::Broken{.text = "x", .key = "a"};
        });
    };
    return promtact::sim::protocol<testing::Chatter>("uneven", std::move(parts));
}

TEST(Shrink, LeavesOutPairsThatOnlyMakeUpForEachOther) {
    Case run{.scenario = quiet(60)};
    run.fates.emplace();
    const engine::Fate lost{.lost = {engine::Cause::editor}};
    const auto fate = [](std::uint32_t to, std::uint64_t step) {
        return engine::FateKey{NodeId(1), NodeId(to), ChoicePosition::at(step, 0).value};
    };
    run.fates->insert({fate(1, 7), lost});
    run.fates->insert({fate(3, 9), lost});
    run.fates->insert({fate(2, 1), lost});
    const ShrinkReport report = shrink(uneven(), run);
    EXPECT_EQ(report.before.fates, 3U);
    EXPECT_EQ(report.after.fates, 1U);
}

TEST(Shrink, AMessageThatIsLateIsLostInstead) {
    Case run{.scenario = quiet(60)};
    run.fates.emplace();
    run.fates->insert(
        {{NodeId(1), NodeId(2), ChoicePosition::at(1, 0).value}, engine::Fate{.delay = 55}});
    const ShrinkReport report = shrink(uneven(), run);
    ASSERT_EQ(report.after.fates, 1U);
    EXPECT_TRUE(report.small.run.fates->begin()->second.is_lost());
}

TEST(Shrink, EndsWhenItsRunsAreSpent) {
    const ShrinkReport report = shrink(chatter({.limit = 450}), failing(), {.runs_max = 10});
    EXPECT_FALSE(report.finished);
    EXPECT_LE(report.runs, 12U);
    EXPECT_EQ(report.small.outcome.property, "no number is above the limit");
}

TEST(Shrink, EndsWhenItIsToldToAndKeepsWhatItHas) {
    std::uint64_t asked = 0;
    ShrinkOptions options;
    options.give_up = [&asked] { return ++asked > 8; };
    const ShrinkReport report = shrink(chatter({.limit = 450}), failing(), options);
    EXPECT_FALSE(report.finished);
    EXPECT_LE(report.runs, 12U);
    EXPECT_LT(report.after.weight(), report.before.weight());
    EXPECT_EQ(report.small.outcome.property, "no number is above the limit");
}

TEST(Shrink, APaxosFailureBecomesAShortStory) {
    const Protocol protocol = paxos::protocol({.promise_not_durable = true});
    Case run{.scenario = {.name = "x1", .nodes = 5, .steps = 2500}};
    run.scenario.max_delay = {12};
    run.scenario.drop = Ppm(100'000);
    run.scenario.propose_every = {11};
    run.scenario.restart_every = {37};
    RunReport report;
    do {
        ++run.scenario.seed;
        report = run_case(protocol, run);
    } while (report.verdict != engine::Verdict::fail && run.scenario.seed < 100);
    ASSERT_EQ(report.verdict, engine::Verdict::fail);
    const ShrinkReport small = shrink(protocol, run);
    EXPECT_EQ(small.small.outcome.property, report.stop->violation->property);
    EXPECT_EQ(small.after.restarts + small.after.faults, 1U) << "one crash forgets the promise";
    EXPECT_LE(small.after.commands, 2U);
    EXPECT_LE(small.small.events.size(), 40U);
}

} // namespace
} // namespace promtact::sim
