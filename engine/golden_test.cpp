// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Hashes that must never change: they are the same under every compiler, optimisation and host. A
// change of one is a new version of the engine.
#include <gtest/gtest.h>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/testing/ring.hpp>

namespace promtact::engine {
namespace {

struct Golden {
    const char* name = "";
    RunConfig config{};
    testing::RingOptions ring{};
    const char* trace = "";
};

Fault of(FaultKind kind, std::vector<NodeId> a, std::vector<NodeId> b, FaultParams params = {}) {
    return {
        .kind = kind,
        .start = Step(20),
        .end = Step(200),
        .a = std::move(a),
        .b = std::move(b),
        .params = std::move(params)};
}

std::vector<Golden> goldens() {
    const NodeId one(1);
    const NodeId two(2);
    const NodeId three(3);
    RunConfig all{
        .seed = 0x4A2C,
        .drop = Ppm(20'000),
        .max_delay = {4},
        .duplicate = Ppm(10'000),
        .tick_ns = 10'000'000};
    all.faults = {
        of(FaultKind::split, {one}, {two}),
        of(FaultKind::link, {three}, {NodeId(4)}),
        of(FaultKind::loss, {}, {}, LossParams{.probability = Ppm(10'000)}),
        of(FaultKind::burst, {}, {},
           BurstParams{.enter_bad = Ppm(5'000), .leave_bad = Ppm(90'000)}),
        of(FaultKind::delay, {one}, {},
           DelayParams{.base = {.count = 9}, .jitter = {.count = 4}, .shape = DelayShape::normal}),
        of(FaultKind::reorder, {}, {},
           ReorderParams{.probability = Ppm(30'000), .hold = {.count = 40}, .held_max = 2}),
        of(FaultKind::duplicate, {}, {}, DuplicateParams{.probability = Ppm(40'000)}),
        of(FaultKind::corrupt, {}, {}, CorruptParams{.probability = Ppm(9'000), .detected = false}),
        of(FaultKind::rate, {NodeId(6)}, {NodeId(7)},
           RateParams{.bits_per_second = 5'000, .queue = {256}}),
        of(FaultKind::flap, {NodeId(7)}, {one},
           FlapParams{.up = {.count = 11}, .down = {.count = 3}}),
        of(FaultKind::crash, {NodeId(5)}, {}),
        of(FaultKind::pause, {two}, {}),
        of(FaultKind::clock, {three}, {}, ClockParams{.rate_ppm = 250'000, .jump_ns = 70'000'000}),
    };
    RunConfig index = all;
    index.key = DecisionKey::index;
    return {
        {.name = "quiet", .config = {.seed = 1}, .trace = "34bdbc80111c0996a11c1afead6089a4"},
        {.name = "lossy",
         .config = {.seed = 0x4A2C, .drop = Ppm(50'000), .max_delay = {5}},
         .trace = "fb8c917f967d8f75a7991a4d43d79862"},
        {.name = "every fault",
         .config = all,
         .ring = {.nodes = 7, .hops = 2},
         .trace = "facd09c6068c34cead82fa77915e7247"},
        {.name = "every fault, by index",
         .config = index,
         .ring = {.nodes = 7, .hops = 2},
         .trace = "dc692e1d5d2e828ca34b9c3cc3be9317"},
    };
}

TEST(EngineGolden, TracesNeverChange) {
    for (const Golden& golden : goldens()) {
        testing::Ring ring(golden.ring);
        Engine<testing::Ring> engine(ring, golden.config);
        ASSERT_TRUE(engine.run(400)) << golden.name << ": " << engine.stop()->text;
        EXPECT_EQ(to_hex(engine.trace()), golden.trace) << golden.name;
        for (const std::uint64_t fired : engine.fault_counts())
            EXPECT_GT(fired, 0U) << golden.name;
    }
}

} // namespace
} // namespace promtact::engine
