// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/block_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <promtact/base/numbers.hpp>
#include <promtact/uring/block_writer.hpp>

namespace promtact::harness::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t between(Clock::time_point start, Clock::time_point end) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count());
}

// whole.fraction without trailing zeros
std::string decimal(std::uint64_t value, std::uint64_t unit, const char* suffix) {
    std::string text = std::to_string(value / unit);
    std::string fraction = std::to_string(unit + value % unit).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    if (!fraction.empty()) text += "." + fraction;
    return text + suffix;
}

} // namespace

Result<BlockRunResult> run_blocks(UniqueFd file, const BlockRun& run) {
    PROMTACT_ASSERT(run.operations > 0);
    PROMTACT_TRY_ASSIGN(
        uring::BlockWriter writer,
        uring::BlockWriter::open(
            std::move(file), {.mode = uring::WriteMode::separate, .depth = run.depth}));
    BlockRunResult result;
    std::array<std::byte, uring::block_bytes> block{};
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < run.operations; ++i) {
        block.fill(std::byte{0});
        run.payload(i, block);
        const auto begin = Clock::now();
        PROMTACT_TRY(writer.durable_write(run.first_byte + i * uring::block_bytes, block));
        result.latency.record(between(begin, Clock::now()));
    }
    result.total_ns = between(start, Clock::now());
    result.operations = run.operations;
    PROMTACT_TRY(writer.close());
    return result;
}

std::string exact_duration(std::uint64_t nanoseconds) {
    if (nanoseconds < 1'000) return std::to_string(nanoseconds) + "ns";
    if (nanoseconds < 1'000'000) return decimal(nanoseconds, 1'000, "us");
    if (nanoseconds < 1'000'000'000) return decimal(nanoseconds, 1'000'000, "ms");
    return decimal(nanoseconds, 1'000'000'000, "s");
}

std::string figures_line(const BlockRunResult& result) {
    return "operations=" + std::to_string(result.operations) +
           " block=" + std::to_string(uring::block_bytes) +
           " total=" + exact_duration(result.total_ns) +
           " ops_per_sec=" + std::to_string(result.operations_per_second()) +
           " p50=" + exact_duration(result.latency.p50()) +
           " p99=" + exact_duration(result.latency.p99()) +
           " max=" + exact_duration(result.latency.max());
}

void write_figures(JsonWriter& json, const BlockRunResult& result) {
    json.field("operations", result.operations);
    json.field("block_bytes", std::uint64_t{uring::block_bytes});
    json.field("total_ns", result.total_ns);
    json.field("operations_per_second", result.operations_per_second());
    json.field("p50_ns", result.latency.p50());
    json.field("p99_ns", result.latency.p99());
    json.field("p999_ns", result.latency.p999());
    json.field("max_ns", result.latency.max());
}

Result<std::uint64_t> parse_operations(std::string_view text) {
    const bool negative = text.starts_with('-');
    PROMTACT_TRY_ASSIGN(const std::uint64_t count, parse_u64(negative ? text.substr(1) : text));
    return negative ? 0 : count;
}

} // namespace promtact::harness::bench
