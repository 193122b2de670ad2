// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reading what can be read of a log that is refused.
#pragma once

#include <promtact/wal/export.hpp>

namespace promtact::wal {

/// The records of a verified frame, or the truncation it is.
Result<void> write_frame(
    ExportWriter& writer, const FrameHeader& frame, std::span<const std::byte> bytes,
    Layout layout);

/// Every frame of the log's own salt, at its place and with all checksums, in order of LSN; a gap
/// for what is missing up to where the log is known to have reached.
/// Errors: not_found, format, denied; those of the sink. Read errors of segments are gaps.
Result<void> salvage_log(Storage& storage, const ScanReport& report, ExportWriter& writer);

} // namespace promtact::wal
