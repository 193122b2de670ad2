// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// How fast a log is judged at opening, beside how fast its files can be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::harness::bench {

struct RecoveryFigures {
    std::uint64_t log_bytes = 0;
    std::vector<std::uint64_t> scan{}; // bytes per second, round by round
    std::vector<std::uint64_t> read{}; // of bare reads of the same files, same round
};

/// A gibibyte per second, or nine tenths of what bare reads reach.
bool recovers_fast(const RecoveryFigures& figures);

/// Fills a log of about `bytes` in an empty directory, then judges and reads it in turns, past the
/// page cache. Errors: of the log; unsupported without io_uring or direct I/O
Result<RecoveryFigures>
measure_recovery(const std::filesystem::path& directory, std::uint64_t bytes, std::uint64_t rounds);

} // namespace promtact::harness::bench
