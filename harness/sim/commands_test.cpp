// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class Commands : public ::testing::Test {
  protected:
    std::string path(const std::string& name) const { return (directory_ / name).string(); }
    std::string write(const std::string& name, const Scenario& scenario) {
        std::ofstream(path(name)) << scenario::write_scenario(scenario);
        return path(name);
    }
    static Scenario chaos() {
        return {
            .name = "chaos",
            .seed = 1,
            .nodes = 5,
            .steps = 2500,
            .drop = Ppm(100'000),
            .max_delay = {12},
            .propose_every = {11},
            .restart_every = {37}};
    }
    const Tool good_{.program = "tool", .protocols = {paxos::protocol()}};
    const Tool bad_{
        .program = "tool", .protocols = {paxos::protocol({.promise_not_durable = true})}};

  private:
    test_support::TemporaryDirectory temporary_{};
    std::filesystem::path directory_ = temporary_.path();
};
using Simulate = Commands;

TEST_F(Simulate, W57AFailureCarriesItsSeedItsFaultsItsEventsAndItsNodes) {
    Scenario scenario = chaos();
    scenario.faults = {
        {.kind = FaultKind::link, .end = Step(60), .a = {NodeId(1)}, .b = {NodeId(2)}}};
    const std::string file = write("chaos.json", scenario);
    const Ran ran = run(run_simulate, bad_, {"-c", file});
    EXPECT_EQ(ran.exit, 1);
    for (const char* part :
         {"seed      0x1", "fault     link [1]->[2] @[0,60)", "verdict   fail",
          "property  promises are kept", "last events:", "crash", "nodes:\n  node 1: promised",
          "again:    tool simulate -c "})
        EXPECT_THAT(ran.out, HasSubstr(part));
    const Ran json = run(run_simulate, bad_, {"-c", file, "--json"});
    EXPECT_TRUE(read_json(json.out, "out").has_value()) << json.out;
    EXPECT_THAT(json.out, HasSubstr("\"property\": \"promises are kept\""));
    EXPECT_EQ(run(run_simulate, good_, {"-c", file}).exit, 0) << "without the mistake";
}

TEST_F(Simulate, WhatTheProtocolCannotDoIsSaidWithItsPlace) {
    Scenario scenario = chaos();
    scenario.faults = {{.kind = FaultKind::reset, .params = ResetParams{.probability = Ppm(1)}}};
    scenario.workload = Workload{};
    const Ran ran = run(run_simulate, good_, {"-c", write("kernel.json", scenario)});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.err, HasSubstr("kernel.json:"));
    EXPECT_THAT(ran.err, HasSubstr("only the kernel runner can do it"));
    EXPECT_THAT(ran.err, HasSubstr("serves no clients (workload)"));
}

TEST_F(Simulate, ARecordingReplaysAndDiffers) {
    const std::string file = write("chaos.json", chaos());
    const std::string one = path("one.json");
    const std::string two = path("two.json");
    EXPECT_EQ(run(run_simulate, good_, {"-c", file, "--record", one}).exit, 0);
    EXPECT_EQ(run(run_simulate, good_, {"-c", file, "--record", two, "--seed", "2"}).exit, 0);
    const Ran replayed = run(run_replay, good_, {one});
    EXPECT_EQ(replayed.exit, 0);
    EXPECT_THAT(replayed.out, HasSubstr("the same, event by event"));
    const Ran other_code = run(run_replay, bad_, {one});
    EXPECT_EQ(other_code.exit, 1) << "with the mistake the run goes another way";
    EXPECT_THAT(other_code.out, HasSubstr("differs at event "));
    EXPECT_EQ(run(run_diff, good_, {one, one}).exit, 0);
    const Ran differs = run(run_diff, good_, {one, two});
    EXPECT_EQ(differs.exit, 1);
    EXPECT_THAT(differs.out, HasSubstr("event "));
}

TEST_F(Commands, ASweepKeepsItsFirstFailureAndReplayTellsIt) {
    const std::string file = write("chaos.json", chaos());
    const std::string corpus = path("found");
    const Ran swept =
        run(run_sweep, bad_, {"-c", file, "--from", "0x10", "--corpus", corpus, "--jobs", "2"});
    EXPECT_EQ(swept.exit, 1);
    EXPECT_THAT(swept.out, HasSubstr("failure   seed 0x1"));
    EXPECT_THAT(swept.out, HasSubstr("made small:"));
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(corpus), {}), 1);
    const std::string kept = std::filesystem::directory_iterator(corpus)->path().string();
    EXPECT_THAT(swept.out, HasSubstr("again:    tool replay " + kept));
    const Ran told = run(run_replay, bad_, {kept, "--story"});
    EXPECT_EQ(told.exit, 0);
    EXPECT_THAT(told.out, HasSubstr("fail: promises are kept"));
    EXPECT_THAT(told.out, HasSubstr("the same, event by event"));
    const std::string small = path("small.json");
    const Ran shrunk = run(run_shrink, bad_, {kept, "--out", small});
    EXPECT_EQ(shrunk.exit, 0) << shrunk.err;
    EXPECT_EQ(run(run_replay, bad_, {small}).exit, 0);
}

// What a guided sweep runs depends on what it learned: its failure is kept as the case, not the
// seed.
TEST_F(Commands, AFailureOfAGuidedSweepIsKeptAsItsCase) {
    const std::string file = write("chaos.json", chaos());
    const std::string corpus = path("guided");
    const Ran swept =
        run(run_sweep, bad_,
            {"-c", file, "--strategy", "guided", "--seeds", "20000", "--corpus", corpus});
    EXPECT_EQ(swept.exit, 1);
    ASSERT_EQ(std::distance(std::filesystem::directory_iterator(corpus), {}), 1) << swept.err;
    const std::string kept = std::filesystem::directory_iterator(corpus)->path().string();
    const Ran told = run(run_replay, bad_, {kept});
    EXPECT_EQ(told.exit, 0);
    EXPECT_THAT(told.out, HasSubstr("the same, event by event"));
    EXPECT_THAT(told.out, HasSubstr("property  promises are kept"));
}

} // namespace
} // namespace promtact::sim
