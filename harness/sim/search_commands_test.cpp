// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>
#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/sim_main.hpp>

#include "temporary_directory.hpp"
#include "testing/chatter.hpp"
#include "testing/ran.hpp"

#include <paxos/protocol.hpp>

namespace promtact::sim {
namespace {

using ::testing::HasSubstr;
using testing::Ran;
using testing::run;

class SearchCommands : public ::testing::Test {
  protected:
    void SetUp() override {
        const Scenario scenario{.name = "five", .seed = 1, .nodes = 5, .steps = 10};
        std::ofstream(path("five.json")) << scenario::write_scenario(scenario);
    }
    std::string path(const std::string& name) const { return (directory_ / name).string(); }
    Ran sweep(const Tool& tool, const std::string& bounds, std::vector<std::string> more = {}) {
        std::vector<std::string> words{"-c",         path("five.json"), "--strategy",
                                       "exhaustive", "--bounds",        bounds};
        words.insert(words.end(), more.begin(), more.end());
        return run(run_sweep, tool, words);
    }
    const Tool good_{.program = "tool", .protocols = {paxos::protocol()}};
    const Tool bad_{.program = "tool", .protocols = {paxos::protocol({.adopts_any_value = true})}};

  private:
    test_support::TemporaryDirectory temporary_{};
    std::filesystem::path directory_ = temporary_.path();
};

TEST_F(SearchCommands, CorrectPaxosIsExhausted) {
    const Ran ran = sweep(good_, "nodes=3,crashes=1");
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    for (const char* part :
         {"strategy  exhaustive, breadth first", "bounds    3 nodes, 1000000 states, crash 1",
          "frontier left: 0 states", "goal      a value is chosen: reached after ",
          "verdict   pass\n"})
        EXPECT_THAT(ran.out, HasSubstr(part));
}

TEST_F(SearchCommands, AnExhaustedBudgetIsSaid) {
    const Ran ran = sweep(good_, "nodes=3,states=1000");
    EXPECT_EQ(ran.exit, 5);
    EXPECT_THAT(ran.out, HasSubstr("verdict   budget_exhausted: more than 1000 states"));
    EXPECT_EQ(sweep(good_, "nodes=3,depth=4").exit, 5);
}

TEST_F(SearchCommands, AViolationIsAStoryAFileAndACommand) {
    const Ran ran = sweep(bad_, "nodes=3,commands=3", {"--corpus", path("found")});
    EXPECT_EQ(ran.exit, 1);
    for (const char* part :
         {"verdict   fail: at most one value is chosen: value ", "11 actions; no shorter path",
          "  1  command 1\n", "deliver 1->2  prepare 3\n         node 2: promised 3\n",
          "again:    tool replay "})
        EXPECT_THAT(ran.out, HasSubstr(part));
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(path("found")), {}), 1);
    const std::string kept = std::filesystem::directory_iterator(path("found"))->path().string();
    EXPECT_THAT(ran.out, HasSubstr("again:    tool replay " + kept));

    const Ran told = run(run_replay, bad_, {kept});
    EXPECT_EQ(told.exit, 0) << told.err;
    EXPECT_THAT(told.out, HasSubstr("replay    the same, action by action"));
    EXPECT_THAT(told.out, HasSubstr("deliver 1->2  prepare 3"));
    const Ran without = run(run_replay, good_, {kept});
    EXPECT_EQ(without.exit, 1) << "without the mistake it goes another way";
    EXPECT_THAT(without.out, HasSubstr("replay    differs at "));
    const Ran json = run(run_replay, bad_, {kept, "--json"});
    EXPECT_THAT(json.out, HasSubstr("\"same\": true"));
    EXPECT_EQ(run(run_replay, bad_, {kept, "--html", path("page")}).exit, 2);
}

TEST_F(SearchCommands, WithoutACorpusTheSearchIsItsOwnCommand) {
    const Ran ran = sweep(bad_, "nodes=3,commands=3", {"--out", path("found.json")});
    EXPECT_THAT(
        ran.out, HasSubstr(
                     "again:    tool sweep -c " + path("five.json") +
                     " --strategy exhaustive --bounds nodes=3,commands=3\n"));
    EXPECT_EQ(run(run_replay, bad_, {path("found.json")}).exit, 0) << "--out can be taken, too";
    const Ran json = sweep(bad_, "nodes=3,commands=3", {"--json"});
    EXPECT_TRUE(read_search(json.out, "out").has_value()) << json.out;
    ASSERT_EQ(sweep(good_, "nodes=3", {"--out", path("clean.json")}).exit, 0);
    const Ran clean = run(run_replay, good_, {path("clean.json")});
    EXPECT_EQ(clean.exit, 2);
    EXPECT_THAT(clean.err, HasSubstr("this search is pass: there is no path to take"));
}

TEST_F(SearchCommands, WhatCannotBeSearchedIsUnsupported) {
    const Tool tool{.program = "tool", .protocols = {testing::chatter()}};
    const Ran ran = sweep(tool, "nodes=3");
    EXPECT_EQ(ran.exit, 77);
    EXPECT_THAT(ran.err, HasSubstr("tool: unsupported: the protocol \"chatter\""));
    EXPECT_THAT(ran.err, HasSubstr("the cluster has no fingerprint()"));
}

TEST_F(SearchCommands, FlagsOfTheOtherStrategiesAreRefused) {
    EXPECT_EQ(sweep(good_, "nodes=0").exit, 2);
    const Ran seeds = sweep(good_, "nodes=3", {"--seeds", "5"});
    EXPECT_EQ(seeds.exit, 2);
    EXPECT_THAT(seeds.err, HasSubstr("--seeds has no meaning with --strategy exhaustive"));
    const Ran bounds = run(run_sweep, good_, {"-c", path("five.json"), "--bounds", "nodes=3"});
    EXPECT_EQ(bounds.exit, 2);
    EXPECT_THAT(bounds.err, HasSubstr("--bounds needs --strategy exhaustive"));
}

} // namespace
} // namespace promtact::sim
