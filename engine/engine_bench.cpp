// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Deliveries per second on the ring: the shapes of the reference system, and the one that is held
// to a figure.
#include <benchmark/benchmark.h>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/testing/ring.hpp>

namespace promtact::engine {
namespace {

using testing::Ring;

void deliveries(
    benchmark::State& state, const testing::RingOptions& options, const RunConfig& config) {
    std::uint64_t delivered = 0;
    for (auto _ : state) {
        state.PauseTiming();
        Ring ring(options);
        Engine<Ring> engine(ring, config);
        for (int property = 0; property < 3; ++property) {
            engine.watch("sum " + std::to_string(property), [&ring]() -> std::optional<Broken> {
                std::uint64_t sum = 0;
                for (const NodeId node : ring.nodes())
                    sum += ring.node(node).received;
                if (sum > ring.sent() * 1000) return Broken{.text = "more came than was sent"};
                return std::nullopt;
            });
        }
        engine.run_checked(500); // warm
        const std::uint64_t before = engine.counts().delivered;
        state.ResumeTiming();
        engine.run_checked(2000);
        delivered += engine.counts().delivered - before;
        if (engine.stop()) state.SkipWithError(engine.stop()->text.c_str());
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

// Nodes and messages under way: the curve.
void many_nodes(benchmark::State& state) {
    const auto nodes = static_cast<std::uint32_t>(state.range(0));
    const auto delay = static_cast<std::uint64_t>(state.range(1));
    deliveries(
        state, {.nodes = nodes, .period = 2, .hops = 1'000'000, .burst = 1},
        {.seed = 1, .max_delay = {delay}, .under_way_max = std::size_t{1} << 24});
}
BENCHMARK(many_nodes)
    ->Args({16, 32})
    ->Args({64, 128})
    ->Args({256, 2000})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(3);

} // namespace
} // namespace promtact::engine
