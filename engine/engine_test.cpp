// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <exception>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/testing/ring.hpp>

namespace promtact::engine {
namespace {

using testing::Ring;

Fault fault(FaultKind kind, std::vector<NodeId> a, std::vector<NodeId> b = {}) {
    return {.kind = kind, .a = std::move(a), .b = std::move(b), .params = default_params(kind)};
}
Fault during(std::uint64_t start, std::uint64_t end, Fault inner) {
    inner.start = Step(start);
    inner.end = Step(end);
    return inner;
}

struct Trial {
    explicit Trial(RunConfig config = {}, testing::RingOptions options = {.nodes = 4})
        : ring(options), engine(ring, std::move(config)) {}
    Ring ring;
    Engine<Ring> engine;
};

TEST(Engine, DrivesAProtocolThatIsNoConsensus) {
    Trial run;
    EXPECT_TRUE(run.engine.run(300));
    EXPECT_EQ(run.ring.sent(), 4 * 150U);
    EXPECT_EQ(run.ring.received(), run.ring.sent());
    EXPECT_EQ(run.engine.under_way(), 0U);
    EXPECT_EQ(run.engine.now(), Step(300));
}

TEST(Engine, ASeedIsARun) {
    const auto trace = [](std::uint64_t seed) {
        Trial run({.seed = seed, .drop = Ppm(50'000), .max_delay = {5}});
        EXPECT_TRUE(run.engine.run(400));
        return run.engine.trace();
    };
    EXPECT_EQ(trace(3), trace(3));
    EXPECT_NE(trace(3), trace(4));
}

TEST(Engine, T12EverySeedIsARunOfItsOwn) {
    // W47: seeds that some generators fold together, and neighbours in every bit.
    std::set<Digest128> traces;
    std::vector<std::uint64_t> seeds{0, 89482311, 2147483647, 2147483648, ~std::uint64_t{0}};
    for (int bit = 0; bit < 64; ++bit)
        seeds.push_back(std::uint64_t{1} << bit);
    for (const std::uint64_t seed : seeds) {
        Trial run({.seed = seed, .drop = Ppm(50'000), .max_delay = {5}});
        run.engine.run(100);
        traces.insert(run.engine.trace());
    }
    EXPECT_EQ(traces.size(), std::set<std::uint64_t>(seeds.begin(), seeds.end()).size());
}

/// Sends other numbers at the same times.
class Shifted : public Ring {
  public:
    using Ring::Ring;
    [[nodiscard]] Digest128 digest(const Message& message) const noexcept {
        Digest128 digest = Ring::digest(message);
        digest.low ^= message.from == NodeId(2) ? 1 : 0;
        return digest;
    }
};

TEST(Engine, TheTraceKnowsWhatMessagesSay) {
    Trial plain;
    plain.engine.run(50);
    Shifted ring({.nodes = 4});
    Engine<Shifted> engine(ring, RunConfig{});
    engine.run(50);
    EXPECT_EQ(engine.counts().delivered, plain.engine.counts().delivered);
    EXPECT_NE(engine.trace(), plain.engine.trace()); // W52
}

// T3: what is asked for after the faults is asked only when they have ended.
TEST(Engine, T3ABoundIsJudgedFromTheEndOfTheLastFault) {
    const auto stop = [](std::uint64_t end, std::uint64_t comes_true) {
        Trial run({.faults = {during(20, end, fault(FaultKind::isolate, {NodeId(2)}))}});
        run.engine.expect(
            {.name = "it comes true",
             .within = 30,
             .holds = [&run, comes_true] { return run.engine.now() >= Step(comes_true); },
             .explain = [] { return std::string("somebody waits"); }});
        run.engine.run_checked(200);
        return run.engine.stop();
    };
    EXPECT_FALSE(stop(100, 129));
    const auto late = stop(100, 140);
    ASSERT_TRUE(late);
    EXPECT_EQ(late->verdict, Verdict::stuck);
    EXPECT_EQ(late->place.step, Step(130));
    EXPECT_EQ(
        late->text,
        "not within 30 steps after step 100, when the last fault ended: somebody waits");
    EXPECT_FALSE(stop(end_of_run.value(), 1000)) << "a fault that never ends is never judged";
}

TEST(Engine, LosesEverythingAtFullLoss) {
    Trial run({.drop = Ppm(Ppm::one)});
    EXPECT_TRUE(run.engine.run(100));
    EXPECT_GT(run.ring.sent(), 0U);
    EXPECT_EQ(run.ring.received(), 0U);
    EXPECT_EQ(run.engine.under_way(), 0U);
    EXPECT_EQ(run.engine.counts().lost, run.ring.sent());
    EXPECT_EQ(run.engine.chance().lost, run.ring.sent());
}

TEST(Engine, PurgesOnlyWhatTouchesTheNode) {
    Trial run({.max_delay = {50}});
    run.engine.run(60);
    const std::size_t before = run.engine.under_way();
    const std::size_t gone = run.engine.purge_in_flight(NodeId(2));
    EXPECT_GT(gone, 0U);
    EXPECT_LT(gone, before);
    EXPECT_EQ(run.engine.under_way(), before - gone);
    EXPECT_EQ(run.engine.purge_in_flight(NodeId(2)), 0U);
}

TEST(Engine, FaultsCutWhatTheySay) {
    struct Row {
        Fault fault;
        std::vector<std::uint64_t> silent; // receivers that hear nothing
    };
    const std::vector<Row> rows{
        {fault(FaultKind::split, {NodeId(1)}, {NodeId(2), NodeId(3), NodeId(4)}), {1, 2}},
        {fault(FaultKind::isolate, {NodeId(3)}), {3, 4}},
        {fault(FaultKind::link, {NodeId(2)}, {NodeId(3)}), {3}},
    };
    for (const Row& row : rows) {
        Trial run({.faults = {row.fault}});
        run.engine.run(100);
        std::uint64_t cut = 0;
        for (std::uint32_t id = 1; id <= 4; ++id) {
            const bool silent = std::count(row.silent.begin(), row.silent.end(), id) > 0;
            EXPECT_EQ(run.ring.node(NodeId(id)).received, silent ? 0U : 50U) << id;
            cut += silent ? 50 : 0;
        }
        EXPECT_EQ(run.engine.fault_counts(), std::vector<std::uint64_t>{cut});
        EXPECT_EQ(run.engine.counts().cut, cut);
    }
}

TEST(Engine, AWindowIsHalfOpen) {
    Trial run({.faults = {during(20, 40, fault(FaultKind::isolate, {NodeId(2)}))}});
    run.engine.run(19);
    EXPECT_EQ(run.engine.counts().cut, 0U);
    run.engine.run(20);
    const std::uint64_t inside = run.engine.counts().cut;
    EXPECT_EQ(inside, 20U); // two messages every second step, 20 .. 38
    run.engine.run(60);
    EXPECT_EQ(run.engine.counts().cut, inside);
}

TEST(Engine, ACutStopsWhatIsUnderWay) {
    const auto crossed = [](bool at_arrival) {
        RunConfig config{.max_delay = {30}};
        config.cut_at_arrival = at_arrival;
        config.faults = {during(50, 100, fault(FaultKind::isolate, {NodeId(2)}))};
        Trial run(std::move(config));
        run.engine.run(50);
        const std::uint64_t before = run.ring.node(NodeId(2)).received;
        run.engine.run(49);
        return run.ring.node(NodeId(2)).received - before;
    };
    EXPECT_EQ(crossed(true), 0U);
    EXPECT_GT(crossed(false), 0U) << "W53, when asked for";
}

TEST(Engine, IdenticalFaultsAreCountedApart) {
    const Fault isolate = fault(FaultKind::isolate, {NodeId(2)});
    Trial run({.faults = {during(10, 20, isolate), during(30, 60, isolate)}});
    run.engine.run(100);
    EXPECT_EQ(run.engine.fault_counts(), (std::vector<std::uint64_t>{10, 30})); // W63
}

TEST(Engine, InjectorsAreAskedAfterTheDraws) {
    Trial plain({.seed = 9, .drop = Ppm(100'000), .max_delay = {4}});
    plain.engine.run(200);
    Trial asked({.seed = 9, .drop = Ppm(100'000), .max_delay = {4}});
    std::uint64_t questions = 0;
    asked.engine.inject("always", [&](const Attempt&) {
        ++questions;
        return true;
    });
    asked.engine.inject("late", [](const Attempt& attempt) { return attempt.delay < 5; });
    asked.engine.run(200);
    EXPECT_EQ(asked.engine.trace(), plain.engine.trace());
    EXPECT_EQ(questions, asked.engine.counts().sent - asked.engine.counts().lost);
}

TEST(Engine, ABrokenInvariantStopsTheRunThere) {
    Trial run;
    int looked = 0;
    run.engine.watch("first", [&]() -> std::optional<Broken> {
        ++looked;
        return std::nullopt;
    });
    run.engine.watch("second", [&]() -> std::optional<Broken> {
        if (run.engine.now() < Step(10)) return std::nullopt;
        return Broken{.text = "step ten came", .key = "ten"};
    });
    run.engine.watch(
        "third", []() -> std::optional<Broken> { return Broken{.text = "never reached first"}; });
    EXPECT_FALSE(run.engine.run_checked(1)) << "the third is broken at once";
    EXPECT_EQ(run.engine.stop()->violation->property, "third");

    Trial again;
    again.engine.watch("ten", [&]() -> std::optional<Broken> {
        if (again.engine.now() < Step(10)) return std::nullopt;
        return Broken{.text = "step ten came", .key = "ten"};
    });
    EXPECT_FALSE(again.engine.run_checked(50));
    ASSERT_TRUE(again.engine.stop());
    EXPECT_EQ(again.engine.stop()->verdict, Verdict::fail);
    EXPECT_EQ(again.engine.stop()->place.step, Step(10));
    EXPECT_EQ(again.engine.stop()->place.trace, again.engine.trace());
    EXPECT_EQ(again.engine.stop()->violation->broken.key, "ten");
    EXPECT_FALSE(again.engine.step()) << "it does not go on";
    EXPECT_EQ(again.engine.now(), Step(10));
    EXPECT_EQ(looked, 1);
}

TEST(Engine, RunDoesNotLookAtInvariants) {
    Trial run;
    run.engine.watch("never", []() -> std::optional<Broken> { return Broken{.text = "no"}; });
    EXPECT_TRUE(run.engine.run(20));
    Trial bare;
    EXPECT_TRUE(bare.engine.run(20));
    EXPECT_EQ(run.engine.trace(), bare.engine.trace());
}

TEST(Engine, ACrashedNodeNeitherTicksNorHears) {
    Trial run({.max_delay = {3}, .faults = {during(20, 60, fault(FaultKind::crash, {NodeId(2)}))}});
    run.engine.run(19);
    const auto before = run.ring.node(NodeId(2));
    run.engine.run(40);
    EXPECT_EQ(run.ring.node(NodeId(2)).received, before.received);
    EXPECT_EQ(run.ring.node(NodeId(2)).sent, before.sent);
    EXPECT_FALSE(run.engine.up(NodeId(2)));
    EXPECT_GT(run.engine.counts().purged, 0U);
    run.engine.run(40);
    EXPECT_TRUE(run.engine.up(NodeId(2)));
    EXPECT_GT(run.ring.node(NodeId(2)).received, before.received);
    EXPECT_EQ(run.ring.node(NodeId(2)).crashes, 1U);
    EXPECT_EQ(run.engine.fault_counts(), std::vector<std::uint64_t>{1});
}

TEST(Engine, APausedNodeHearsLater) {
    Trial run({.faults = {during(20, 60, fault(FaultKind::pause, {NodeId(2)}))}});
    run.engine.run(59);
    const auto paused = run.ring.node(NodeId(2));
    EXPECT_EQ(paused.received, 9U);
    EXPECT_EQ(paused.sent, 9U);
    run.engine.run(41);
    EXPECT_EQ(run.ring.node(NodeId(2)).received, 50U) << "nothing is lost";
    EXPECT_EQ(run.engine.counts().purged, 0U);
}

TEST(Engine, AFastClockTicksMoreOftenAndASlowOneLess) {
    const auto ticks = [](std::int32_t ppm) {
        Fault clock = fault(FaultKind::clock, {NodeId(1)});
        clock.params = ClockParams{.rate_ppm = ppm};
        Trial run({.faults = {clock}});
        run.engine.run(1000);
        return run.ring.node(NodeId(1)).ticks;
    };
    EXPECT_EQ(ticks(0), 1000U);
    EXPECT_EQ(ticks(500'000), 1500U);
    EXPECT_EQ(ticks(-250'000), 750U);
}

class Throwing : public Ring {
  public:
    using Ring::Ring;
    void tick(NodeId node) {
        if (node == NodeId(3) && ++calls_ == 7)
            std::rethrow_exception(std::make_exception_ptr(std::runtime_error("no such term")));
        Ring::tick(node);
    }

  private:
    int calls_ = 0;
};

TEST(Engine, AnExceptionOfTheAdapterIsReportedAsSuch) {
    Throwing ring({.nodes = 4});
    Engine<Throwing> engine(ring, RunConfig{.seed = 5});
    EXPECT_FALSE(engine.run(100));
    EXPECT_EQ(engine.stop()->verdict, Verdict::error);
    EXPECT_EQ(engine.stop()->text, "the cluster threw: no such term");
    EXPECT_EQ(engine.stop()->place.step, Step(7));
}

class Misrouting : public Ring {
  public:
    using Ring::Ring;
    [[nodiscard]] Route route(const Message& message) const noexcept {
        return {message.from, NodeId(77)};
    }
};

TEST(Engine, AnUnknownNodeIsReportedAsSuch) {
    Misrouting ring({.nodes = 4});
    Engine<Misrouting> engine(ring, RunConfig{});
    EXPECT_FALSE(engine.run(100));
    EXPECT_EQ(engine.stop()->verdict, Verdict::error); // W58
    EXPECT_EQ(engine.stop()->text, "node 1 sent a message from 1 to 77, which is no node");
}

TEST(Engine, AStepThatDoesNotEndIsStuck) {
    Trial run({.cascade_max = 1000}, {.nodes = 4, .hops = 1'000'000'000});
    EXPECT_FALSE(run.engine.run(100));
    EXPECT_EQ(run.engine.stop()->verdict, Verdict::stuck); // W58
    EXPECT_EQ(run.engine.stop()->text, "1001 deliveries within one step");
}

TEST(Engine, TooManyMessagesUnderWayIsStuck) {
    Trial run({.max_delay = {1000}, .under_way_max = 50});
    EXPECT_FALSE(run.engine.run(1000));
    EXPECT_EQ(run.engine.stop()->verdict, Verdict::stuck);
}

TEST(Engine, T11TwoEnginesInterleavedGiveTheRunsOfEachAlone) {
    RunConfig one{.seed = 1, .drop = Ppm(50'000), .max_delay = {7}};
    RunConfig two{.seed = 2, .max_delay = {3}, .duplicate = Ppm(100'000)};
    Trial alone1(one);
    Trial alone2(two);
    alone1.engine.run(300);
    alone2.engine.run(300);
    Trial first(one);
    Trial second(two);
    for (int i = 0; i < 300; ++i) {
        first.engine.step();
        second.engine.step();
    }
    EXPECT_EQ(first.engine.trace(), alone1.engine.trace()); // T11
    EXPECT_EQ(second.engine.trace(), alone2.engine.trace());
}

} // namespace
} // namespace promtact::engine
