// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Shows what a log directory holds. Never writes, believes nothing, and holds one segment in
// memory. Target promtact::wal_tools.
#pragma once

#include <cstdint>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/export.hpp>

namespace promtact::wal {

struct DumpOptions {
    bool records = false; // each record, not only each frame
    bool payload = false; // with its payload in hexadecimal
    bool json = false;    // one object a line
    bool strict = false;
    Lsn from = 0;
    Lsn through = ~Lsn{0};
};

/// Segments, frames and records in order, up to where the log can be believed. Returns the verdict:
/// what was shown of a refused log is what stands before the damage.
/// Errors: those of the sink
Result<ScanReport> dump_log(Storage& storage, const DumpOptions& options, const TextSink& sink);

/// What every block of one segment's file looks like by itself, whatever the log thinks of it.
/// Errors: not_found; io; those of the sink
Result<void> dump_blocks(Storage& storage, std::uint64_t segment, bool json, const TextSink& sink);

/// What a log consists of.
struct SegmentFigures {
    std::uint64_t segment = 0;
    Lsn first_lsn = 0;
    Lsn next_lsn = 0;
    bool recycled = false;
    bool sealed = false;
    std::uint64_t frames = 0;
    std::uint64_t records = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t frame_bytes = 0; // with padding
};

struct LogFigures {
    ScanReport report{};
    std::vector<SegmentFigures> segments{};
    std::uint64_t truncations = 0;
    std::uint64_t fences = 0;
    std::uint64_t watermarks = 0;
    /// Over all segments; lsn and flags of the sum mean nothing.
    [[nodiscard]] SegmentFigures sum() const noexcept;
};

/// Counts what a log consists of, up to where it can be believed.
LogFigures survey_log(Storage& storage, bool strict);

} // namespace promtact::wal
