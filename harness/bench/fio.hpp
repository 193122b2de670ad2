// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// fio as the peer of the commit path: the same file, the same blocks, the same order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/scratch_file.hpp>

#include "bench/job.hpp"

namespace promtact::harness::bench {

/// What one run of fio said. Units: ns.
struct FioFigures {
    std::string version{};
    std::uint64_t operations = 0;
    std::uint64_t operations_per_second = 0;
    std::uint64_t write_p50 = 0; // submission to completion of a write
    std::uint64_t sync_p50 = 0;  // of a sync, only from the end of its submission to completion
    /// Mean time of an operation that is in neither: mostly the submission of its sync, which fio
    /// counts for writes only (docs/decisions/0015).
    std::uint64_t unrecorded = 0;
    /// Of a write and its sync; fio keeps no histogram of the pair.
    [[nodiscard]] std::uint64_t operation_p50() const noexcept {
        return write_p50 + sync_p50 + unrecorded;
    }
};

/// What fio is asked to do, one write at a time, a sync after each.
struct FioJob {
    std::uint64_t operations = 0;
    std::uint64_t write_bytes = block_bytes; // of one write
    std::uint64_t region_bytes = 0; // of the file, from its start, again and again; 0: once
    SyncKind sync = SyncKind::fdatasync;
    std::string engine = "io_uring"; // with registered buffer and file; or "psync"
};

/// The words that start fio: O_DIRECT, sequential over existing blocks.
std::vector<std::string> fio_words(const std::string& path, const FioJob& job);

/// Reads fio's JSON strictly: syntax, duplicate keys and every field used are checked.
/// Errors: format, naming what is missing or implausible.
Result<FioFigures> parse_fio(std::string_view json, std::uint64_t operations);

/// "fio-3.33". Errors: unsupported, naming the package, when fio is not installed.
Result<std::string> fio_version();

/// Runs fio over the file. Errors: unsupported when fio is absent; io with fio's own words when it
/// failed; format.
Result<FioFigures> run_fio(const ScratchFile& file, const FioJob& job);

} // namespace promtact::harness::bench
