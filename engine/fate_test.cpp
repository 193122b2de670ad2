// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/fate_editors.hpp>
#include <promtact/engine/testing/ring.hpp>

namespace promtact::engine {
namespace {

using testing::Ring;

Fault link_fault(FaultKind kind, FaultParams params) {
    return {.kind = kind, .params = std::move(params)};
}

struct Trial {
    explicit Trial(RunConfig config, testing::RingOptions options = {.nodes = 4})
        : ring(options), engine(ring, std::move(config)) {
        engine.edit_fates(&recorder);
    }
    Ring ring;
    FateRecorder recorder;
    Engine<Ring> engine;
};

RunConfig with(FaultKind kind, FaultParams params) {
    return {.seed = 11, .tick_ns = 1'000'000, .faults = {link_fault(kind, std::move(params))}};
}

TEST(Fate, LossTakesItsShare) {
    Trial run(with(FaultKind::loss, LossParams{.probability = Ppm(250'000)}));
    run.engine.run(4000);
    EXPECT_NEAR(static_cast<double>(run.engine.counts().lost), 2000, 150);
    EXPECT_EQ(run.engine.fault_counts()[0], run.engine.counts().lost);
    EXPECT_EQ(run.engine.chance().lost, 0U);
}

TEST(Fate, BurstsComeTogether) {
    Trial run(
        with(FaultKind::burst, BurstParams{.enter_bad = Ppm(20'000), .leave_bad = Ppm(200'000)}));
    run.engine.run(4000);
    const FateBook& book = run.recorder.book();
    ASSERT_GT(book.size(), 200U);
    std::size_t beside = 0; // losses followed by another on the same link at its next sending
    for (const auto& [key, fate] : book) {
        FateKey next = key;
        next.position = promtact_position((key.position >> 20) + 2, 0);
        beside += book.count(next);
    }
    // Alone, a loss would be followed by another in one of eleven cases.
    EXPECT_GT(beside * 2, book.size()) << "mean length of a burst is five steps";
}

TEST(Fate, DelaysHaveTheirShape) {
    const auto mean = [](DelayParams params) {
        Trial run(with(FaultKind::delay, params));
        run.engine.run(2000);
        std::uint64_t sum = 0;
        for (const auto& [key, fate] : run.recorder.book())
            sum += fate.delay;
        return static_cast<double>(sum) / static_cast<double>(run.engine.counts().sent);
    };
    const FaultDuration base{.count = 40};
    const FaultDuration jitter{.count = 10};
    EXPECT_EQ(mean({.base = base}), 40);
    for (const DelayShape shape : {DelayShape::uniform, DelayShape::normal, DelayShape::pareto})
        EXPECT_NEAR(mean({.base = base, .jitter = jitter, .shape = shape}), 40, 0.6);
    EXPECT_NEAR(mean({.shape = DelayShape::table, .quantiles = {1'000'000, 3'000'000}}), 2, 0.1);
}

TEST(Fate, OrderIsKeptWhereAsked) {
    const auto overtaken = [](bool keep) {
        Trial run(with(
            FaultKind::delay, DelayParams{
                                  .base = {.count = 20},
                                  .jitter = {.count = 15},
                                  .shape = DelayShape::uniform,
                                  .keep_order = keep}));
        run.engine.run(1000);
        std::map<std::pair<NodeId, NodeId>, std::uint64_t> latest;
        std::size_t count = 0;
        for (const auto& [key, fate] : run.recorder.book()) { // by link, then by time
            auto& last = latest[{key.from, key.to}];
            const std::uint64_t due = (key.position >> 20) + fate.delay;
            count += due < last ? 1 : 0;
            last = std::max(last, due);
        }
        return count;
    };
    EXPECT_GT(overtaken(false), 100U);
    EXPECT_EQ(overtaken(true), 0U);
}

TEST(Fate, ADuplicateTravelsOnItsOwn) {
    RunConfig config = with(FaultKind::duplicate, DuplicateParams{.probability = Ppm(Ppm::one)});
    config.max_delay = {9};
    Trial run(std::move(config));
    run.engine.run(500);
    EXPECT_EQ(run.engine.counts().copied, run.engine.counts().sent);
    std::size_t apart = 0;
    for (const auto& [key, fate] : run.recorder.book())
        apart += fate.delay != fate.copy_delay ? 1 : 0;
    EXPECT_GT(apart, run.recorder.book().size() / 2);
}

TEST(Fate, DamageIsLostWhereItIsDetectedAndArrivesWhereNot) {
    Trial lost(with(FaultKind::corrupt, CorruptParams{.probability = Ppm(100'000)}));
    lost.engine.run(1000);
    EXPECT_GT(lost.engine.counts().lost, 100U);
    EXPECT_EQ(lost.engine.counts().corrupted, 0U);
    Trial kept(
        with(FaultKind::corrupt, CorruptParams{.probability = Ppm(100'000), .detected = false}));
    kept.engine.run(1000);
    EXPECT_EQ(kept.engine.counts().lost, 0U);
    EXPECT_EQ(kept.engine.counts().corrupted, lost.engine.counts().lost);
    EXPECT_EQ(kept.engine.counts().delivered, kept.ring.sent());
}

TEST(Fate, ARateQueuesAndThenDrops) {
    // 64 bytes each millisecond are 512,000 bits a second; the link carries a quarter of it.
    Trial run(
        with(FaultKind::rate, RateParams{.bits_per_second = 128'000, .queue = {1024}}),
        {.nodes = 3, .period = 1});
    run.engine.run(1000);
    const double carried = static_cast<double>(run.engine.counts().delivered) / 3;
    EXPECT_NEAR(carried, 250, 10);
    EXPECT_GT(run.engine.counts().lost, 2000U);
    EXPECT_GT(run.engine.fault_counts()[0], 2000U);
}

TEST(Fate, ReorderHoldsOnlySoManyBack) {
    Trial run(with(
        FaultKind::reorder,
        ReorderParams{.probability = Ppm(Ppm::one), .hold = {.count = 100}, .held_max = 3}));
    run.engine.run(99);
    EXPECT_EQ(run.recorder.book().size(), 4 * 3U);
    for (const auto& [key, fate] : run.recorder.book())
        EXPECT_EQ(fate.delay, 100U);
}

TEST(Fate, T4AFaultThatIsAddedMovesNoOtherFate) {
    RunConfig plain{.seed = 3, .drop = Ppm(50'000), .max_delay = {6}, .duplicate = Ppm(20'000)};
    plain.faults = {link_fault(FaultKind::loss, LossParams{.probability = Ppm(30'000)})};
    RunConfig cut = plain;
    cut.faults.insert(
        cut.faults.begin(),
        {.kind = FaultKind::isolate, .start = Step(50), .end = Step(53), .a = {NodeId(2)}});
    plain.fault_ids = {1};
    cut.fault_ids = {7, 1};
    Trial without(plain, {.nodes = 5, .period = 2, .hops = 4});
    Trial with_cut(cut, {.nodes = 5, .period = 2, .hops = 4});
    without.engine.run(800);
    with_cut.engine.run(800);
    ASSERT_GT(with_cut.engine.counts().cut, 0U);
    // W54: what both runs sent has one fate.
    std::size_t both = 0;
    for (const auto& [key, fate] : without.recorder.book()) {
        const auto at = with_cut.recorder.book().find(key);
        if (at == with_cut.recorder.book().end()) continue;
        EXPECT_EQ(at->second, fate);
        ++both;
    }
    EXPECT_GT(both * 10, without.recorder.book().size() * 8);
}

TEST(Fate, ABookReplaysARunWithoutItsSeed) {
    const RunConfig config{
        .seed = 77, .drop = Ppm(80'000), .max_delay = {6}, .duplicate = Ppm(30'000)};
    Trial first(config);
    first.engine.run(400);
    Ring ring({.nodes = 4});
    Engine<Ring> engine(ring, RunConfig{.seed = 1});
    FateReplay replay(first.recorder.book());
    engine.edit_fates(&replay);
    engine.run(400);
    EXPECT_EQ(engine.trace(), first.engine.trace());
    EXPECT_EQ(replay.unmatched(), 0U);
}

TEST(Fate, AMuzzledFateIsBoring) {
    const RunConfig config{.seed = 5, .drop = Ppm(100'000)};
    Trial first(config);
    first.engine.run(200);
    std::set<FateKey> all;
    for (const auto& [key, fate] : first.recorder.book())
        all.insert(key);
    Ring ring({.nodes = 4});
    Engine<Ring> engine(ring, config);
    FateMuzzle muzzle(all);
    engine.edit_fates(&muzzle);
    engine.run(200);
    EXPECT_EQ(engine.counts().lost, 0U);
    EXPECT_EQ(engine.counts().delivered, ring.sent());
}

} // namespace
} // namespace promtact::engine
