// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Deliveries per second on the ring: the shapes of the reference system, the one that is held to a
// figure, and the curve over nodes and messages under way.
#include <cstring>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include <promtact/engine/arena_new.hpp>
#include <promtact/engine/engine.hpp>
#include <promtact/engine/ledger.hpp>
#include <promtact/engine/testing/ring.hpp>

namespace promtact::engine {
namespace {

using testing::Ring;
using testing::RingOptions;

constexpr const char* far_round = "a token was far round";
constexpr const char* all_heard = "everybody heard of something";

/// A run as one's own would be: three properties that read every node, two of them through a
/// ledger, and two goals.
class Watched {
  public:
    Watched(const RingOptions& options, const RunConfig& config)
        : ring_(options), engine_(ring_, config) {
        engine_.goals().declare(far_round);
        engine_.goals().declare(all_heard);
        engine_.watch("nothing comes from nowhere", [this] { return nothing_from_nowhere(); });
        engine_.watch("no node forgets", [this] { return no_node_forgets(); });
        engine_.watch("milestones stay", [this] { return milestones_stay(); });
    }
    Ring& ring() noexcept { return ring_; }
    Engine<Ring>& engine() noexcept { return engine_; }
    [[nodiscard]] bool stopped() const noexcept { return engine_.stop().has_value(); }

  private:
    std::optional<Broken> nothing_from_nowhere() {
        std::uint64_t received = 0;
        bool all = true;
        for (const NodeId node : ring_.nodes()) {
            received += ring_.node(node).received;
            all = all && ring_.node(node).received > 0;
        }
        if (all) engine_.goals().reach(all_heard);
        if (received > engine_.counts().sent) return Broken{.text = "more came than was sent"};
        return std::nullopt;
    }
    std::optional<Broken> no_node_forgets() {
        for (const NodeId node : ring_.nodes()) {
            if (received_.note(node, ring_.node(node).received) != nullptr)
                return Broken{.text = "fewer than before"};
        }
        return std::nullopt;
    }
    std::optional<Broken> milestones_stay() {
        for (const NodeId node : ring_.nodes()) {
            const std::uint64_t sent = ring_.node(node).sent;
            if (sent % 1024 != 0) continue;
            engine_.goals().reach(far_round);
            if (milestones_.note({node, sent}, sent) != nullptr)
                return Broken{.text = "a milestone moved"};
        }
        return std::nullopt;
    }

    Ring ring_;
    Engine<Ring> engine_;
    Rising<NodeId, std::uint64_t> received_{};
    Once<std::pair<NodeId, std::uint64_t>, std::uint64_t> milestones_{};
};

/// Deliveries in `steps` checked steps after `warm` of them, over fresh runs.
void deliveries(benchmark::State& state, const RingOptions& options, const RunConfig& config) {
    std::uint64_t delivered = 0;
    for (auto _ : state) {
        state.PauseTiming();
        auto run = std::make_unique<Watched>(options, config);
        run->engine().run_checked(500);
        const std::uint64_t before = run->engine().counts().delivered;
        state.ResumeTiming();
        run->engine().run_checked(2000);
        state.PauseTiming();
        delivered += run->engine().counts().delivered - before;
        if (run->engine().stop()) state.SkipWithError(run->engine().stop()->text.c_str());
        run.reset();
        state.ResumeTiming();
    }
    state.counters["deliveries"] =
        benchmark::Counter(static_cast<double>(delivered), benchmark::Counter::kIsRate);
}

void faulted_ring(benchmark::State& state) {
    deliveries(
        state, {.nodes = 5, .period = 2, .hops = 40, .burst = 4},
        {.seed = 1, .drop = Ppm(50'000), .max_delay = {5}});
}
BENCHMARK(faulted_ring)->Unit(benchmark::kMillisecond);

void quiet_ring(benchmark::State& state) {
    deliveries(state, {.nodes = 5, .period = 2, .hops = 40, .burst = 4}, {.seed = 1});
}
BENCHMARK(quiet_ring)->Unit(benchmark::kMillisecond);

// A constant number of messages is under way: each that arrives goes on to the next node, up to
// 2,000 steps later. Arguments: nodes, messages.
void loaded_ring(benchmark::State& state) {
    const auto nodes = static_cast<std::uint32_t>(state.range(0));
    const auto messages = static_cast<std::uint64_t>(state.range(1));
    constexpr std::uint64_t delay = 2000;
    Watched run(
        {.nodes = nodes, .period = ~std::uint64_t{0}, .hops = ~std::uint32_t{0}},
        {.seed = 1, .max_delay = {delay}, .under_way_max = 2 * messages});
    Engine<Ring>& engine = run.engine();
    engine.act([&run, messages] {
        for (std::uint64_t i = 0; i < messages; ++i)
            run.ring().poke(run.ring().nodes()[i % run.ring().nodes().size()]);
    });
    engine.run_checked(2 * delay); // until arrivals are spread evenly
    const std::uint64_t before = engine.counts().delivered;
    for (auto _ : state)
        engine.run_checked(100);
    if (engine.stop()) state.SkipWithError(engine.stop()->text.c_str());
    state.counters["deliveries"] = benchmark::Counter(
        static_cast<double>(engine.counts().delivered - before), benchmark::Counter::kIsRate);
    state.counters["under_way"] = static_cast<double>(engine.under_way());
}
BENCHMARK(loaded_ring)
    ->Args({5, 1'000})
    ->Args({16, 10'000})
    ->Args({64, 100'000})
    ->Args({256, 500'000})
    ->Args({256, 1'000'000})
    ->Unit(benchmark::kMillisecond);

// A run of about 256 KiB is set back: its engine, its cluster, its properties.
void set_back(benchmark::State& state) {
    Restorable<Watched> run(
        std::size_t{1} << 24, RingOptions{.nodes = 5, .period = 2, .hops = 40, .burst = 4},
        RunConfig{.seed = 1, .drop = Ppm(50'000), .max_delay = {12}});
    run.with([](Watched& watched) { watched.engine().run_checked(1000); });
    Arena::Snapshot snapshot;
    for (auto _ : state) {
        run.take(snapshot);
        run.restore(snapshot);
    }
    run.with([](Watched& watched) { watched.engine().run_checked(100); });
    if (run->stopped()) state.SkipWithError("the run stopped");
    state.counters["bytes"] = static_cast<double>(run.arena().used());
}
BENCHMARK(set_back)->Unit(benchmark::kMicrosecond);

// The ceiling of set_back: as many bytes, out and back.
void copy_out_and_back(benchmark::State& state) {
    std::vector<char> from(std::size_t{256} << 10, 'x');
    std::vector<char> to(from.size());
    for (auto _ : state) {
        std::memcpy(to.data(), from.data(), from.size());
        benchmark::DoNotOptimize(to.data());
        std::memcpy(from.data(), to.data(), from.size());
        benchmark::DoNotOptimize(from.data());
    }
}
BENCHMARK(copy_out_and_back)->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace promtact::engine
