// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/engine/arena_new.hpp>
#include <promtact/engine/engine.hpp>
#include <promtact/engine/testing/ring.hpp>

#include "plain_heap.hpp"

namespace promtact::engine {
namespace {

using testing::Ring;

constexpr const char* no_plain_heap =
    "the sanitizer knows of what vectors do not use yet, and takes a copy of it for a mistake";
constexpr std::size_t capacity = std::size_t{8} << 20;

/// A cluster and its engine: what is set back together.
struct Both {
    explicit Both(const RunConfig& config, bool leaking = false)
        : leaks(leaking), ring({.nodes = 5, .period = 2, .hops = 20, .burst = 2}),
          engine(ring, config) {
        engine.watch("counts", [this]() -> std::optional<Broken> {
            seen.push_back(ring.received());
            if (seen.size() > 64) seen.clear();
            if (leaks && ++outside % 100 == 0) ring.poke(NodeId(1));
            return std::nullopt;
        });
    }
    static inline std::uint64_t outside = 0; // what no snapshot reaches
    bool leaks;
    Ring ring;
    Engine<Ring> engine;
    std::vector<std::uint64_t> seen{};
};

RunConfig config_of(std::uint64_t seed) {
    RunConfig config{
        .seed = seed, .drop = Ppm(30'000), .max_delay = {400}, .duplicate = Ppm(20'000)};
    config.faults = {
        {.kind = FaultKind::crash, .start = Step(150), .end = Step(180), .a = {NodeId(2)}},
        {.kind = FaultKind::burst,
         .start = Step(10),
         .end = Step(900),
         .params = BurstParams{.enter_bad = Ppm(5'000), .leave_bad = Ppm(90'000)}}};
    return config;
}

/// The traces of a run to its end, and of the same set back from step `later` to step `early`.
std::pair<Digest128, Digest128>
straight_and_back(std::uint64_t seed, std::uint64_t early, std::uint64_t later, bool leaks) {
    constexpr std::uint64_t steps = 1000;
    Restorable<Both> run(capacity, config_of(seed), leaks);
    Arena::Snapshot snapshot;
    run.with([&](Both& r) { r.engine.run_checked(early); });
    run.take(snapshot);
    run.with([&](Both& r) { r.engine.run_checked(steps - early); });
    const Digest128 straight = run->engine.trace();
    run.restore(snapshot);
    run.with([&](Both& r) { r.engine.run_checked(later - early); });
    run.restore(snapshot);
    EXPECT_EQ(run->engine.now(), Step(early));
    run.with([&](Both& r) { r.engine.run_checked(steps - early); });
    return {straight, run->engine.trace()};
}

TEST(Arena, GivesPiecesOfEverySizeAndTakesThemAgain) {
    Arena arena(capacity);
    std::vector<std::pair<void*, std::size_t>> pieces;
    for (std::size_t size = 0; size < 5000; size += 7) {
        const std::size_t alignment = std::size_t{16} << size % 4;
        void* const piece = arena.allocate(size, alignment);
        ASSERT_NE(piece, nullptr);
        ASSERT_TRUE(arena.owns(piece));
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(piece) % alignment, 0U);
        std::memset(piece, static_cast<int>(size % 251), size);
        pieces.emplace_back(piece, size);
    }
    for (const auto& [piece, size] : pieces) {
        const auto* const bytes = static_cast<const unsigned char*>(piece);
        for (std::size_t at = 0; at < size; ++at)
            ASSERT_EQ(bytes[at], size % 251) << "of a piece of " << size;
        ASSERT_EQ(Arena::owner(piece), &arena);
    }
    const std::size_t used = arena.used();
    for (const auto& [piece, size] : pieces)
        arena.deallocate(piece);
    for (const auto& [piece, size] : pieces)
        ASSERT_NE(arena.allocate(size, std::size_t{16} << size % 4), nullptr);
    EXPECT_EQ(arena.used(), used);
}

TEST(Arena, AFullOneThrowsAndTheHeapIsNotTouched) {
    Arena arena(std::size_t{64} << 10);
    EXPECT_EQ(arena.allocate(std::size_t{1} << 40), nullptr);
    const ArenaScope scope(&arena);
    EXPECT_THROW(std::vector<std::byte>(std::size_t{1} << 20), std::bad_alloc);
    const auto small = std::make_unique<int>(7);
    EXPECT_EQ(Arena::owner(small.get()), &arena);
    const ArenaScope heap(nullptr);
    const auto outside = std::make_unique<int>(7);
    EXPECT_EQ(Arena::owner(outside.get()), nullptr);
}

// T10: a run that was set back ends as the one that went straight on, for every seed.
TEST(Arena, T10ARunThatWasSetBackEndsAsTheUninterruptedOne) {
    if (!plain_heap) GTEST_SKIP() << no_plain_heap;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const std::uint64_t early = 1 + promtact_choose(seed, 260, 0, 0) % 800;
        const std::uint64_t later = early + promtact_choose(seed, 260, 0, 1) % 200;
        const auto [straight, back] = straight_and_back(seed, early, later, false);
        ASSERT_EQ(to_hex(straight), to_hex(back)) << "seed " << seed << ", from step " << early;
    }
}

// The control of T10: a field that lies outside of the arena is missed, and seen to be.
TEST(Arena, T10AFieldThatIsNotSetBackIsSeen) {
    if (!plain_heap) GTEST_SKIP() << no_plain_heap;
    const auto [straight, back] = straight_and_back(1, 250, 410, true);
    EXPECT_NE(to_hex(straight), to_hex(back));
}

TEST(Arena, ASnapshotOutlivesOthersAndIsTakenWithoutAllocating) {
    if (!plain_heap) GTEST_SKIP() << no_plain_heap;
    Restorable<Both> run(capacity, config_of(7));
    std::vector<Arena::Snapshot> snapshots(4);
    std::vector<Digest128> traces;
    for (Arena::Snapshot& snapshot : snapshots) {
        run.with([](Both& r) { r.engine.run_checked(40); });
        run.take(snapshot);
        traces.push_back(run->engine.trace());
    }
    for (const std::size_t i : {2U, 0U, 3U, 1U}) {
        run.restore(snapshots[i]);
        EXPECT_EQ(run->engine.trace(), traces[i]);
        run.with([](Both& r) { r.engine.run_checked(3); });
    }
}

// Asserted by the arena's own count, with the heap's left out.
TEST(Arena, ASteadyRunAllocatesNothing) {
    if (!plain_heap) GTEST_SKIP() << no_plain_heap;
    RunConfig config{.seed = 3, .drop = Ppm(50'000), .max_delay = {900}, .duplicate = Ppm(10'000)};
    config.faults = {{.kind = FaultKind::loss, .params = LossParams{.probability = Ppm(10'000)}}};
    Restorable<Both> run(std::size_t{32} << 20, config);
    run.with([](Both& r) { r.engine.run_checked(20'000); });
    const std::uint64_t before = run->engine.counts().delivered;
    const std::uint64_t allocations = run.arena().allocations();
    run.with([](Both& r) { r.engine.run_checked(5'000); });
    EXPECT_GT(run->engine.counts().delivered, before + 100'000);
    EXPECT_EQ(run.arena().allocations(), allocations);
    // The control: one that allocates is counted.
    run.with([](Both& r) { r.engine.watch("more", [] { return std::optional<Broken>{}; }); });
    EXPECT_GT(run.arena().allocations(), allocations);
}

} // namespace
} // namespace promtact::engine
