// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/sim/clients.hpp>
#include <promtact/sim/shrink.hpp>

#include "testing/chatter.hpp"
#include "testing/register.hpp"

namespace promtact::sim {
namespace {

using ::testing::HasSubstr;
using testing::map_of_one;

Case with_clients(std::uint64_t seed = 1) {
    Case run{.scenario = {.name = "map", .seed = seed, .nodes = 3, .steps = 600}};
    run.scenario.max_delay = {4};
    run.scenario.workload = Workload{.clients = 3, .keys = 2, .reads = Ppm(500'000)};
    return run;
}

TEST(Clients, SeeAMapThatDoesOneOperationAtATime) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const RunReport report = run_case(map_of_one(), with_clients(seed));
        EXPECT_EQ(report.verdict, engine::Verdict::pass) << report.text;
        EXPECT_GT(report.clients.answered, 100U);
        EXPECT_LE(report.clients.answered, report.clients.operations);
        EXPECT_EQ(report.clients.history.verdict, HistoryReport::Verdict::holds);
    }
}

TEST(Clients, AStaleReadIsFoundAndMadeSmall) {
    const Protocol wrong = map_of_one(true);
    Case run = with_clients();
    RunReport report = run_case(wrong, run);
    while (report.verdict == engine::Verdict::pass && run.scenario.seed < 100) {
        ++run.scenario.seed;
        report = run_case(wrong, run);
    }
    ASSERT_EQ(report.verdict, engine::Verdict::fail);
    EXPECT_EQ(report.stop->violation->property, "what clients saw is linearizable");
    const ShrinkReport small = shrink(wrong, run, {.runs_max = 600});
    EXPECT_LE(small.after.commands, 3U) << "a write and a read after it";
    EXPECT_LT(small.after.commands, small.before.commands);
    EXPECT_LE(small.after.fates, 2U);
}

TEST(Clients, AnAnswerThatNeverCameMayHaveHappened) {
    Case run = with_clients();
    run.scenario.drop = Ppm(300'000);
    run.scenario.steps = 2000;
    for (run.scenario.seed = 1; run.scenario.seed <= 10; ++run.scenario.seed) {
        const RunReport report = run_case(map_of_one(), run);
        EXPECT_EQ(report.verdict, engine::Verdict::pass) << report.text;
        EXPECT_LT(report.clients.answered, report.clients.operations);
    }
}

// T8: an empty history is no pass.
TEST(Clients, T8ClientsThatAreNeverAnsweredMakeItVacuous) {
    Case run = with_clients();
    run.scenario.workload->reads = Ppm(0);
    run.scenario.drop = Ppm(Ppm::one);
    run.scenario.steps = 100;
    // Whoever asks node 1 is answered there: nobody does while it is down.
    Clients clients(*run.scenario.workload, 1, std::vector{NodeId(1)});
    const auto never = [](NodeId) { return false; };
    const auto any = [](std::uint64_t) { return true; };
    EXPECT_TRUE(clients.ask(Step(1), any, never).empty());
    EXPECT_EQ(judge_history(clients.history()).verdict, HistoryReport::Verdict::vacuous);
}

TEST(Clients, AnOperationThatIsLeftOutMovesNoOther) {
    const Workload workload{.clients = 2, .keys = 5, .reads = Ppm(500'000)};
    const std::vector<NodeId> nodes{NodeId(1), NodeId(2)};
    const auto up = [](NodeId) { return true; };
    const auto calls = [&](std::set<std::uint64_t> out) {
        Clients clients(workload, 9, nodes);
        std::vector<std::string> asked;
        for (std::uint64_t step = 1; step <= 30; ++step) {
            std::vector<engine::ClientAnswer> answers;
            for (const ClientCall& call : clients.ask(
                     Step(step), [&](std::uint64_t id) { return out.count(id) == 0; }, up)) {
                asked.push_back(
                    std::to_string(call.operation.id) + ":" + std::to_string(call.node.value()) +
                    ":" + std::to_string(call.operation.key));
                answers.push_back({.client = call.operation.client, .id = call.operation.id});
            }
            clients.hear(answers, Step(step));
        }
        return asked;
    };
    std::vector<std::string> all = calls({});
    const std::vector<std::string> fewer = calls({4, 9});
    ASSERT_EQ(all.size(), 60U);
    all.erase(all.begin() + 8);
    all.erase(all.begin() + 3);
    EXPECT_EQ(fewer, all);
}

TEST(Clients, AClusterThatServesNobodyRefusesAWorkload) {
    Case run{.scenario = testing::quiet()};
    run.scenario.workload = Workload{};
    const auto problems = testing::chatter().problems(run);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems.front().text, HasSubstr("serves no clients"));
    EXPECT_TRUE(map_of_one().problems(with_clients()).empty());
}

} // namespace
} // namespace promtact::sim
