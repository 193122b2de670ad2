// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Costs of the words every unit speaks. Numbers are about the machine they ran on.
#include <array>
#include <vector>

#include <benchmark/benchmark.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/choice.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/base/histogram.hpp>
#include <promtact/base/probe.hpp>
#include <promtact/base/sha256.hpp>
#include <promtact/base/trace_hash.hpp>

namespace promtact {
namespace {

std::vector<std::byte> filled(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(promtact_mix64(i) & 0xffU);
    return bytes;
}

std::int64_t bytes_done(const benchmark::State& state) {
    return static_cast<std::int64_t>(state.iterations()) * state.range(0);
}

void crc32c_by_size(benchmark::State& state) {
    const std::vector<std::byte> bytes = filled(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(crc32c(bytes));
    state.SetBytesProcessed(bytes_done(state));
    state.SetLabel(crc32c_is_accelerated() ? "isa-l" : "table");
}
BENCHMARK(crc32c_by_size)->Arg(16)->Arg(112)->Arg(512)->Arg(4096)->Arg(65536)->Arg(1 << 20);

void crc32c_table_by_size(benchmark::State& state) {
    const std::vector<std::byte> bytes = filled(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(crc32c_extend_table(0, bytes));
    state.SetBytesProcessed(bytes_done(state));
}
BENCHMARK(crc32c_table_by_size)->Arg(112)->Arg(4096);

void sha256_by_size(benchmark::State& state) {
    const std::vector<std::byte> bytes = filled(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(sha256(bytes));
    state.SetBytesProcessed(bytes_done(state));
}
BENCHMARK(sha256_by_size)->Arg(64)->Arg(65536);

void trace_hash_event(benchmark::State& state) {
    TraceHash hash;
    std::uint64_t step = 0;
    for (auto _ : state)
        hash.add(std::array<std::uint64_t, 6>{++step, 1, 2, 3, 4, 5});
    benchmark::DoNotOptimize(hash.value());
}
BENCHMARK(trace_hash_event);

void digest128_by_size(benchmark::State& state) {
    const std::vector<std::byte> bytes = filled(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state)
        benchmark::DoNotOptimize(digest128(bytes));
    state.SetBytesProcessed(bytes_done(state));
}
BENCHMARK(digest128_by_size)->Arg(32)->Arg(256)->Arg(65536);

void choose(benchmark::State& state) {
    const ChoiceStream stream = ChoiceStream::on_link(0x4A2C, Purpose::loss, 1, 2);
    std::uint64_t index = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(stream.bits(ChoicePosition::index(++index)));
}
BENCHMARK(choose);

void choose_below(benchmark::State& state) {
    const ChoiceStream stream = ChoiceStream::on_link(0x4A2C, Purpose::delay, 1, 2);
    std::uint64_t index = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(stream.below(ChoicePosition::index(++index), 1000));
}
BENCHMARK(choose_below);

void histogram_record(benchmark::State& state) {
    Histogram histogram;
    histogram.record(~std::uint64_t{0} >> 1); // all buckets allocated
    std::uint64_t value = 0;
    for (auto _ : state)
        histogram.record(promtact_mix64(++value) & 0xffffffU);
    benchmark::DoNotOptimize(histogram.count());
}
BENCHMARK(histogram_record);

void histogram_p999(benchmark::State& state) {
    Histogram histogram;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        histogram.record(promtact_mix64(i) & 0xffffffU);
    for (auto _ : state)
        benchmark::DoNotOptimize(histogram.p999());
}
BENCHMARK(histogram_p999);

void probe_pass(benchmark::State& state) {
    for (auto _ : state)
        PROMTACT_REACHABLE("bench: probe pass");
}
BENCHMARK(probe_pass);

} // namespace
} // namespace promtact
