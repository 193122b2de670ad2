// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/run.hpp>
#include <promtact/sim/strategy.hpp>

#include "testing/chatter.hpp"

namespace promtact::sim {
namespace {

using testing::chatter;
using ::testing::HasSubstr;
using testing::quiet;

TEST(Strategy, APlanIsAFunctionOfItsSeed) {
    const Protocol protocol = chatter();
    for (const StrategyKind kind : all_strategies) {
        const StrategyOptions options{.kind = kind, .faults = 6};
        std::set<std::string> plans;
        std::set<Digest128> traces;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const Planned a = plan(options, quiet(), protocol.abilities, seed);
            const Planned b = plan(options, quiet(), protocol.abilities, seed);
            const std::string text = scenario::write_scenario(a.run.scenario);
            EXPECT_EQ(text, scenario::write_scenario(b.run.scenario));
            plans.insert(text);
            const auto trace = [&](const Planned& planned) {
                return run_case(protocol, planned.run, {.editor = planned.editor.get()}).end.trace;
            };
            EXPECT_EQ(trace(a), trace(b)) << to_string(kind);
            traces.insert(trace(a));
        }
        EXPECT_EQ(plans.size(), 20U);
        EXPECT_GE(traces.size(), 15U) << to_string(kind);
    }
}

TEST(Strategy, EveryPlanCanBeCarriedOut) {
    const Protocol protocol = chatter();
    std::set<FaultKind> seen;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        const Planned planned =
            plan({.kind = StrategyKind::swarm, .faults = 4}, quiet(), protocol.abilities, seed);
        EXPECT_TRUE(protocol.problems(planned.run).empty());
        const std::string text = scenario::write_scenario(planned.run.scenario);
        EXPECT_TRUE(scenario::read_scenario(text, "plan").has_value()) << text;
        for (const Fault& fault : planned.run.scenario.faults)
            seen.insert(fault.kind);
        for (const Fault& fault : planned.run.scenario.faults)
            EXPECT_LE(fault.end.value(), 48U) << "the last fifth is free of faults";
    }
    EXPECT_EQ(seen.size(), FaultWeights::usual().weights.size());
}

TEST(Strategy, WhatTheClusterCannotDoIsNotDrawn) {
    engine::Abilities abilities = chatter().abilities;
    abilities.crash = false;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        for (const Fault& fault : plan({.faults = 8}, quiet(), abilities, seed).run.scenario.faults)
            EXPECT_TRUE(fault.kind != FaultKind::crash && fault.kind != FaultKind::restart);
    }
}

TEST(Strategy, WeightsDecideHowOften) {
    const auto weights = FaultWeights::parse("pause=9,isolate=1,crash=0");
    ASSERT_TRUE(weights.has_value());
    std::array<int, all_fault_kinds.size()> count{};
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        for (const Fault& fault :
             plan({.faults = 10, .weights = *weights}, quiet(), chatter().abilities, seed)
                 .run.scenario.faults)
            ++count[static_cast<std::size_t>(fault.kind)];
    }
    EXPECT_EQ(count[static_cast<std::size_t>(FaultKind::crash)], 0);
    EXPECT_NEAR(count[static_cast<std::size_t>(FaultKind::pause)], 1800, 100);
    EXPECT_NEAR(count[static_cast<std::size_t>(FaultKind::isolate)], 200, 100);
    for (const char* bad : {"crash", "crash=", "crash=x", "dance=1", "reset=1", "crash=99999999"})
        EXPECT_FALSE(FaultWeights::parse(bad).has_value()) << bad;
}

} // namespace
} // namespace promtact::sim
