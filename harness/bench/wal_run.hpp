// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One run of appends on an open log, by callbacks or by blocked threads, and the work fio must do
// to be its ceiling.
#pragma once

#include <cstdint>
#include <string_view>

#include <promtact/base/histogram.hpp>
#include <promtact/base/result.hpp>
#include <promtact/wal/log.hpp>
#include <promtact/wal/loop_log.hpp>

#include "bench/fio.hpp"

namespace promtact::harness::bench {

enum class AppendStyle : std::uint8_t {
    callback, // that many appends outstanding, each callback appends the next
    blocking, // that many threads, each waits for its own
    loop,     // that many outstanding, one thread in an event loop
};
std::string_view to_string(AppendStyle style) noexcept;

struct WalJob {
    AppendStyle style = AppendStyle::callback;
    std::uint32_t writers = 1;
    std::uint32_t record_bytes = 100;
    std::uint64_t records = 1000;
};

/// A program that keeps a log also takes snapshots: what was appended is released again in pieces
/// of this many bytes, so that a run of any length goes on in recycled segments.
inline constexpr std::uint64_t release_bytes = std::uint64_t{32} << 20;
/// Whether the n-th record to end completes such a piece.
bool completes_piece(const WalJob& job, std::uint64_t ended) noexcept;

struct WalRun {
    Histogram latency{}; // ns from append to its outcome
    std::uint64_t records = 0;
    std::uint64_t elapsed_ns = 0;
    std::uint64_t syncs = 0;
    std::uint64_t bytes_written = 0;
    [[nodiscard]] std::uint64_t records_per_second() const noexcept;
};

/// Errors: the first of any append. Requires: job.style is not loop
Result<WalRun> run_wal(wal::Log& log, const WalJob& job);
/// The same in an event loop. Requires: job.style is loop
Result<WalRun> run_wal(wal::LoopLog& log, const WalJob& job);

/// What fio writes at once to be the ceiling: the frame that holds one record of every writer, cut
/// to what one frame can hold. records: how many of ours that is.
struct Ceiling {
    std::uint64_t write_bytes = 0;
    std::uint64_t records = 0;
};
Ceiling ceiling_of(const WalJob& job, std::uint64_t frame_bytes_max);

} // namespace promtact::harness::bench
