// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// What a round trip through the ring and one 4 KiB write cost. Each mode of the writer is its own
// row, on preallocated and zero-written blocks of a nameless file in the working directory.
#include <array>
#include <string>
#include <vector>

#include <fcntl.h>

#include <benchmark/benchmark.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/uring/block_writer.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::uring {
namespace {

void nop_round_trip(benchmark::State& state) {
    const auto mode = static_cast<RingMode>(state.range(0));
    auto ring = Ring::open({.entries = 8, .only = mode});
    if (!ring) return state.SkipWithError(describe(ring.error()).c_str());
    state.SetLabel(std::string(to_string(mode)));
    std::array<Finished, 8> out;
    for ([[maybe_unused]] auto iteration : state) {
        const bool fine =
            ring->prepare({.kind = OpKind::nop}) && ring->wait(out, 1, std::chrono::seconds{1});
        if (!fine) return state.SkipWithError("round trip failed");
    }
}
BENCHMARK(nop_round_trip)->DenseRange(0, 2);

void durable_4k(benchmark::State& state) {
    const auto mode = static_cast<WriteMode>(state.range(0));
    constexpr std::uint64_t blocks = 1024;
    state.SetLabel(std::string(to_string(mode)));
    auto file = ScratchFile::create(".", O_DIRECT);
    if (!file) return state.SkipWithError(describe(file.error()).c_str());
    if (auto filled = file->fill_with_zeros(blocks * 4096); !filled)
        return state.SkipWithError(describe(filled.error()).c_str());
    auto descriptor = file->reopen(O_RDWR | O_DIRECT);
    if (!descriptor) return state.SkipWithError(describe(descriptor.error()).c_str());
    auto writer = BlockWriter::open(std::move(*descriptor), {.mode = mode});
    if (!writer) return state.SkipWithError(describe(writer.error()).c_str());
    const std::vector<std::byte> data(4096, std::byte{0x5a});
    std::uint64_t block = 0;
    for ([[maybe_unused]] auto iteration : state) {
        if (auto written = writer->durable_write(block++ % blocks * 4096, data); !written)
            return state.SkipWithError(describe(written.error()).c_str());
    }
    state.SetBytesProcessed(state.iterations() * 4096);
}
BENCHMARK(durable_4k)->DenseRange(0, 4)->UseRealTime();

} // namespace
} // namespace promtact::uring
