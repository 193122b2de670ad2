// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/recording.hpp>

#include "test_paths.hpp"
#include "testing/chatter.hpp"

#include <paxos/protocol.hpp>

namespace promtact::sim {
namespace {

using testing::chatter;
using ::testing::HasSubstr;
using testing::quiet;

Case noisy(std::uint64_t seed = 7) {
    Case run{.scenario = quiet(200)};
    run.scenario.seed = seed;
    run.scenario.drop = Ppm(100'000);
    run.scenario.max_delay = {4};
    run.scenario.duplicate = Ppm(50'000);
    run.scenario.propose_every = {17};
    run.scenario.restart_every = {23};
    run.scenario.faults = {
        {.kind = FaultKind::split,
         .start = Step(20),
         .end = Step(60),
         .a = {NodeId(1)},
         .b = {NodeId(2), NodeId(3)}},
        {.kind = FaultKind::loss, .params = LossParams{.probability = Ppm(50'000)}}};
    return run;
}

// W63: a filter that matches nothing, too.
TEST(Run, T1AFaultThatNeverStruckMakesItVacuous) {
    Case run{.scenario = quiet()};
    run.scenario.faults = {
        {.kind = FaultKind::link, .a = {NodeId(2)}, .b = {NodeId(3)}}}; // 2 never sends
    const RunReport report = run_case(chatter(), run);
    EXPECT_EQ(report.verdict, engine::Verdict::vacuous);
    EXPECT_THAT(report.text, HasSubstr("link [2]->[3]"));
}

TEST(Run, EqualFaultsHaveCountsOfTheirOwn) { // W63
    Case run{.scenario = quiet()};
    const Fault cut{.kind = FaultKind::link, .end = Step(11), .a = {NodeId(1)}, .b = {NodeId(2)}};
    run.scenario.faults = {cut, cut, cut};
    run.scenario.faults[2].end = Step(6);
    const RunReport report = run_case(chatter(), run);
    EXPECT_EQ(report.fault_counts, (std::vector<std::uint64_t>{10, 10, 5}));
}

TEST(Run, AnUnmetExpectationIsNoPass) {
    Case run{.scenario = quiet()};
    run.scenario.expect.goals = {"numbers arrive"};
    EXPECT_EQ(run_case(chatter(), run).verdict, engine::Verdict::pass);
    run.scenario.expect.goals = {"pigs fly"};
    EXPECT_EQ(run_case(chatter(), run).verdict, engine::Verdict::vacuous);
    run.scenario.expect = {.trace = Digest128{1, 2}};
    const RunReport other = run_case(chatter(), run);
    EXPECT_EQ(other.verdict, engine::Verdict::fail);
    run.scenario.expect.trace = other.end.trace;
    EXPECT_EQ(run_case(chatter(), run).verdict, engine::Verdict::pass);
}

TEST(Recording, IsReadAsItWasWritten) {
    const Recording first = record(chatter(), noisy());
    ASSERT_GT(first.run.fates->size(), 20U);
    ASSERT_GT(first.events.size(), 100U);
    const auto second = read_recording(write_recording(first), "file");
    ASSERT_TRUE(second.has_value()) << second.error().context;
    EXPECT_EQ(second->outcome, first.outcome);
    EXPECT_EQ(second->events, first.events);
    EXPECT_EQ(*second->run.fates, *first.run.fates);
    EXPECT_EQ(second->run.fault_ids, first.run.fault_ids);
    EXPECT_EQ(second->protocol, "chatter");
    EXPECT_FALSE(first_difference(first, *second));
}

TEST(Recording, RunsAgainWithoutItsGenerator) {
    Recording kept = record(chatter(), noisy());
    kept.run.scenario.seed = 12345; // says nothing any more, but for the bursts of faults
    kept.run.scenario.drop = Ppm{};
    kept.run.scenario.max_delay = {};
    kept.run.scenario.duplicate = Ppm{};
    const Recording again = record(chatter(), kept.run);
    EXPECT_EQ(again.outcome.trace, kept.outcome.trace);
    EXPECT_EQ(again.events, kept.events);
}

TEST(Recording, SaysWhereAnotherRunDiffers) {
    const Recording a = record(chatter(), noisy());
    Case other = a.run;
    other.fates->begin()->second = {}; // one message has another fate
    const Recording b = record(chatter(), other);
    const auto difference = first_difference(a, b);
    ASSERT_TRUE(difference);
    EXPECT_THAT(*difference, HasSubstr("event "));
    EXPECT_THAT(*difference, HasSubstr(" | "));
}

TEST(Recording, WhatIsWrongWithAFileIsSaidWithItsPlace) {
    const std::string good = write_recording(record(chatter(), {.scenario = quiet(3)}));
    for (const auto& [from, to, says] : std::vector<std::array<std::string, 3>>{
             {"promtact.case/1", "promtact.case/9", "schema"},
             {"\"pass\"", "\"good\"", "is no verdict"},
             {"\"events\": [", "\"events\": [[1, 2], ", "7 numbers"},
             {"\"nodes\": 5", "\"nodes\": 500", "nodes"},
             {"\"trace\": \"", "\"trace\": \"x", "hexadecimal"}}) {
        std::string bad = good;
        const std::size_t at = bad.rfind(from);
        ASSERT_NE(at, std::string::npos) << from;
        bad.replace(at, from.size(), to);
        const auto read = read_recording(bad, "file");
        ASSERT_FALSE(read.has_value()) << to;
        EXPECT_THAT(read.error().context, HasSubstr("file:"));
        EXPECT_THAT(read.error().context, HasSubstr(says));
    }
    for (std::size_t size = 0; size < good.size(); size += 7)
        EXPECT_FALSE(read_recording(good.substr(0, size), "file").has_value()) << size;
}

TEST(Run, AnExampleScenarioRunsOnPaxos) {
    for (const char* name : {"leader-partition", "paxos", "paxos-chaos", "paxos-duel"}) {
        const auto scenario = scenario::load_scenario(
            test_source_path("examples/scenarios/" + std::string(name) + ".json"));
        ASSERT_TRUE(scenario.has_value()) << scenario.error().context;
        const RunReport report = run_case(paxos::protocol(), {.scenario = *scenario});
        EXPECT_EQ(report.verdict, engine::Verdict::pass) << name << ": " << report.text;
    }
}

} // namespace
} // namespace promtact::sim
