// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The run of uring-bench and raw-bench: block i is written and flushed, one at a time, i ascending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include <promtact/base/histogram.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::harness::bench {

struct BlockRun {
    std::uint64_t operations = 0;
    std::uint64_t first_byte = 0;
    std::uint32_t depth = 32; // registered slots; the queue depth is 1
    /// Puts the payload of operation i into a zeroed block.
    std::function<void(std::uint64_t number, std::span<std::byte> block)> payload{};
};

struct BlockRunResult {
    Histogram latency{}; // ns
    std::uint64_t operations = 0;
    std::uint64_t total_ns = 0;
    [[nodiscard]] std::uint64_t operations_per_second() const noexcept {
        return total_ns == 0 ? 0 : operations * 1'000'000'000 / total_ns;
    }
};

/// file: opened O_RDWR | O_DIRECT. Errors: of the ring and the device.
Result<BlockRunResult> run_blocks(UniqueFd file, const BlockRun& run);

/// "812ns", "533.815us", "1.382461ms", "2.5s": exact, as the reference prints durations.
std::string exact_duration(std::uint64_t nanoseconds);

/// "operations=.. block=4096 total=.. ops_per_sec=.. p50=.. p99=.. max=.."
std::string figures_line(const BlockRunResult& result);
/// The same as members of the open object, in ns.
void write_figures(JsonWriter& json, const BlockRunResult& result);

/// A count as the reference's flags take it: any whole number, a negative one as 0. Whether it is
/// in range is asked later, in the order of the other refusals. Errors: invalid_argument (usage).
Result<std::uint64_t> parse_operations(std::string_view text);

} // namespace promtact::harness::bench
