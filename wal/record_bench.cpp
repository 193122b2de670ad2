// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <benchmark/benchmark.h>

#include <promtact/wal/block.hpp>

namespace promtact::wal {
namespace {

void encode_record(benchmark::State& state) {
    RecordBytes bytes{};
    Record record{.sequence = 1, .index = 2, .key = 3, .value = 4};
    for ([[maybe_unused]] auto iteration : state) {
        ++record.sequence;
        encode(record, bytes);
        benchmark::DoNotOptimize(bytes);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(record_bytes));
}
BENCHMARK(encode_record);

void decode_record(benchmark::State& state) {
    RecordBytes bytes{};
    encode({.sequence = 1, .index = 2, .key = 3, .value = 4}, bytes);
    for ([[maybe_unused]] auto iteration : state) {
        auto record = decode(bytes);
        benchmark::DoNotOptimize(record);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(record_bytes));
}
BENCHMARK(decode_record);

void decode_whole_block(benchmark::State& state) {
    std::array<std::byte, block_bytes> block{};
    encode_block({.sequence = 1}, block);
    for ([[maybe_unused]] auto iteration : state) {
        auto decoded = decode_block(block);
        benchmark::DoNotOptimize(decoded);
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(block_bytes));
}
BENCHMARK(decode_whole_block);

} // namespace
} // namespace promtact::wal
