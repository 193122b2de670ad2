// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>
#include <promtact/scenario/read_scenario.hpp>

#include "temporary_directory.hpp"
#include "test_paths.hpp"

namespace promtact::scenario {
namespace {

using ::testing::HasSubstr;

std::string with_faults(const std::string& faults, const std::string& more = "") {
    return R"({"seed": "0x4A2C", "nodes": 5, "steps": 1200, "tick": "1ms")" + more +
           R"(, "faults": [)" + faults + "]}";
}
Fault only_fault(const std::string& text) {
    const auto scenario = read_scenario(with_faults(text), "file");
    EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().context);
    if (!scenario || scenario->faults.size() != 1) return {};
    return scenario->faults.front();
}
std::string refusal(const std::string& text) {
    const auto scenario = read_scenario(text, "file");
    EXPECT_FALSE(scenario.has_value());
    return scenario ? "" : scenario.error().context;
}

constexpr std::string_view leader_partition = R"({
  "name": "leader partition and heal",
  "seed": "0x4A2C",
  "nodes": 5,
  "steps": 1200,
  "dropPermille": 20,
  "maxDelay": 4,
  "proposeEvery": 17,
  "faults": [{"type": "split", "a": [1], "b": [2, 3, 4, 5], "start": 200, "end": 700}]
})";

TEST(ReadScenario, TakesAFileOfTheReferenceUnchanged) {
    const auto scenario = read_scenario(leader_partition, "file");
    ASSERT_TRUE(scenario.has_value()) << scenario.error().context;
    EXPECT_EQ(scenario->name, "leader partition and heal");
    EXPECT_EQ(scenario->seed, 0x4A2CU);
    EXPECT_EQ(scenario->nodes, 5U);
    EXPECT_EQ(scenario->steps, 1200U);
    EXPECT_EQ(scenario->drop, Ppm(20'000));
    EXPECT_EQ(scenario->max_delay, Ticks{4});
    EXPECT_EQ(scenario->propose_every, Ticks{17});
    ASSERT_EQ(scenario->faults.size(), 1U);
    const Fault& split = scenario->faults.front();
    EXPECT_EQ(split.kind, FaultKind::split);
    EXPECT_EQ(split.a, std::vector{NodeId(1)});
    EXPECT_EQ(split.start, Step(200));
    EXPECT_EQ(split.end, Step(700));
    EXPECT_EQ(split.line, 9U);
    EXPECT_EQ(split.column, 14U);
}

TEST(ReadScenario, EverySpellingOfASeedIsTheSameNumber) {
    for (const char* text :
         {"19000", "0x4A38", "0b100101000111000", "0o45070", "19_000", "+19000"}) {
        EXPECT_EQ(
            read_scenario(
                R"({"seed": ")" + std::string(text) + R"(", "nodes": 1, "steps": 1})", "file")
                ->seed,
            19000U)
            << text;
    }
    const auto negative = read_scenario(R"({"seed": "-1", "nodes": 1, "steps": 1})", "file");
    EXPECT_EQ(negative->seed, ~std::uint64_t{0});
}

TEST(ReadScenario, AnEndOfZeroIsTheEndOfTheRun) {
    EXPECT_EQ(
        only_fault(R"({"type": "isolate", "nodes": 1, "start": 5, "end": 0})").end, end_of_run);
    EXPECT_EQ(only_fault(R"({"type": "isolate", "nodes": 1, "start": 5})").start, Step(5));
}

TEST(ReadScenario, DurationsAreStepsOrWallTime) {
    const Fault steps = only_fault(R"({"type": "delay", "base": 3, "jitter": 1})");
    const auto& in_steps = std::get<DelayParams>(steps.params);
    EXPECT_EQ(in_steps.base, (FaultDuration{.unit = FaultDuration::Unit::steps, .count = 3}));
    EXPECT_EQ(in_steps.shape, DelayShape::uniform) << "a jitter without a shape";
    const Fault wall = only_fault(R"({"type": "delay", "base": "25ms"})");
    const auto& in_time = std::get<DelayParams>(wall.params);
    EXPECT_EQ(in_time.base.unit, FaultDuration::Unit::nanoseconds);
    EXPECT_EQ(in_time.base.count, 25'000'000U);
    EXPECT_EQ(in_time.shape, DelayShape::fixed);
}

TEST(ReadScenario, AClockCanBeSetBack) {
    const Fault fault = only_fault(R"({"type": "clock", "nodes": [2], "jump": "-2s"})");
    EXPECT_EQ(std::get<ClockParams>(fault.params).jump_ns, -2'000'000'000);
}

// W62: what the reference lets pass is an error here.
TEST(ReadScenario, W62StartCountsWithoutEndAndLateWindowsAndStrayFieldsAreErrors) {
    EXPECT_EQ(only_fault(R"({"type": "isolate", "nodes": 1, "start": 300})").start, Step(300));
    EXPECT_THAT(
        refusal(with_faults(R"({"type": "isolate", "nodes": 1, "start": 1300})")),
        HasSubstr("is after the end of the run"));
    EXPECT_THAT(
        refusal(with_faults(R"({"type": "isolate", "nodes": 1, "from": 2})")),
        HasSubstr("\"from\""));
    EXPECT_THAT(refusal(R"({"Seed": "1", "nodes": 3, "steps": 3})"), HasSubstr("\"Seed\""));
    EXPECT_THAT(
        refusal(R"({"seed": "1", "nodes": 3, "nodes": 4, "steps": 3})"), HasSubstr("nodes"));
    const std::string all = refusal(R"({"seed": "", "nodes": 0, "steps": 0})");
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << "three problems, one a line: " << all;
}

// W61: no delay is too long for arithmetic.
TEST(ReadScenario, W61ADelayBeyondTheLimitIsRefused) {
    EXPECT_THAT(
        refusal(R"({"seed": "1", "nodes": 3, "steps": 3, "maxDelay": 9223372036854775807})"),
        HasSubstr("maxDelay"));
    EXPECT_THAT(
        refusal(R"({"seed": "1", "nodes": 3, "steps": 3, "maxDelay": 18446744073709551616})"),
        HasSubstr("maxDelay"));
}

TEST(ReadScenario, NodesAreJudgedOneByOne) {
    const std::string text = refusal(with_faults(
        R"({"type": "split", "a": [1, 1], "b": [1, 6]}, {"type": "link", "from": 2, "to": 2})"));
    EXPECT_THAT(text, HasSubstr("node 1 is named twice"));
    EXPECT_THAT(text, HasSubstr("node 6 is outside 1..5"));
    EXPECT_THAT(text, HasSubstr("has node 1, which is on both sides"));
    EXPECT_THAT(text, HasSubstr("distinct"));
}

TEST(ReadScenario, NothingMayFollowTheDocument) {
    EXPECT_THAT(refusal(R"({"seed": "1", "nodes": 3, "steps": 3} {})"), HasSubstr("file:1:39"));
}

TEST(WriteScenario, WhatIsReadOfItIsTheSame) {
    const std::string text = with_faults(
        R"({"type": "split", "a": [1], "b": [2, 3], "start": 3, "end": 9},
           {"type": "isolate", "nodes": [4]}, {"type": "link", "from": [1], "to": [2]},
           {"type": "loss", "probability": 10, "from": 1}, {"type": "burst", "enterBad": 1,
            "leaveBad": 2, "lossGood": 3, "lossBad": 4}, {"type": "delay", "base": "3ms",
            "jitter": "1ms", "distribution": "pareto", "keepOrder": true},
           {"type": "delay", "distribution": "table", "results": "x.json#y"},
           {"type": "reorder", "probability": 5, "hold": 6, "heldMax": 7},
           {"type": "duplicate", "probability": 8}, {"type": "corrupt", "probability": 9,
            "detected": false, "bits": 3}, {"type": "rate", "bitsPerSecond": 8000, "queue": "1KiB"},
           {"type": "flap", "up": 1, "down": 2, "phase": 1}, {"type": "crash", "nodes": 1,
            "start": 1, "end": 2}, {"type": "restart", "nodes": [2]}, {"type": "pause", "nodes": 3},
           {"type": "clock", "nodes": 1, "rate": -5, "jump": "+1ms"},
           {"type": "disk", "nodes": 1, "fault": "slow", "delay": 4},
           {"type": "disk", "nodes": 1, "fault": "full", "capacity": 4096},
           {"type": "reset", "probability": 1}, {"type": "syn", "probability": 1},
           {"type": "mtu", "largest": 1200})",
        R"(, "name": "all", "key": "index", "dropPpm": 7, "duplicatePermille": 2, "maxDelay": 3,
           "proposeEvery": 4, "restartEvery": 5, "workload": {"clients": 2, "keys": 3, "reads": 4,
           "start": 5, "end": 6}, "expect": {"goals": ["a"],
           "trace": "000102030405060708090a0b0c0d0e0f"})");
    const auto first = read_scenario(text, "file");
    ASSERT_TRUE(first.has_value()) << first.error().context;
    ASSERT_EQ(first->faults.size(), 21U);
    const auto second = read_scenario(write_scenario(*first), "written");
    ASSERT_TRUE(second.has_value()) << second.error().context;
    ASSERT_EQ(second->faults.size(), first->faults.size());
    for (std::size_t i = 0; i < first->faults.size(); ++i) {
        const Fault& a = first->faults[i];
        const Fault& b = second->faults[i];
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.params, b.params) << to_string(a.kind);
        EXPECT_EQ(a.a, b.a);
        EXPECT_EQ(a.b, b.b);
        EXPECT_EQ(a.start, b.start);
        EXPECT_EQ(a.end, b.end);
    }
    EXPECT_EQ(first->drop, second->drop);
    EXPECT_EQ(first->duplicate, second->duplicate);
    EXPECT_EQ(first->key, second->key);
    EXPECT_EQ(first->tick_ns, second->tick_ns);
    EXPECT_EQ(first->workload, second->workload);
    EXPECT_EQ(first->expect, second->expect);
}

class LoadScenario : public ::testing::Test {
  protected:
    std::filesystem::path write(const std::string& name, const std::string& text) {
        auto path = directory_ / name.c_str();
        std::ofstream(path) << text;
        return path;
    }
    test_support::TemporaryDirectory directory_{};
};

TEST_F(LoadScenario, ATableComesFromTheResultsItNames) {
    write("results.json", R"({"measurements": [{"name": "latency", "unit": "ns", "count": 4,
        "min": 10, "max": 40, "histogram": [[10, 10, 3], [40, 40, 1]]}]})");
    const auto path = write("table.json", with_faults(R"({"type": "delay",
        "distribution": "table", "results": "results.json#latency"})"));
    const auto scenario = load_scenario(path);
    ASSERT_TRUE(scenario.has_value()) << scenario.error().context;
    const auto& table = std::get<DelayParams>(scenario->faults.front().params).quantiles;
    ASSERT_FALSE(table.empty());
    EXPECT_TRUE(std::is_sorted(table.begin(), table.end()));
    EXPECT_EQ(table.front(), 10U);
    EXPECT_EQ(table[table.size() / 2], 10U) << "three of four are short";
    EXPECT_EQ(table.back(), 40U);
}

TEST_F(LoadScenario, ResultsThatAreNotThereAreAnError) {
    write("results.json", R"({"measurements": []})");
    const auto path = write("table.json", with_faults(R"({"type": "delay",
        "distribution": "table", "results": "results.json#latency"})"));
    const auto scenario = load_scenario(path);
    ASSERT_FALSE(scenario.has_value());
    EXPECT_THAT(scenario.error().context, HasSubstr("no distribution named latency"));
    EXPECT_EQ(load_scenario("/nonexistent/promtact.json").error().code, Errc::not_found);
}

} // namespace
} // namespace promtact::scenario
