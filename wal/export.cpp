// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/assert.hpp>
#include <promtact/wal/explain.hpp>
#include <promtact/wal/export.hpp>

#include "salvage_internal.hpp"

namespace promtact::wal {

Result<void> write_frame(
    ExportWriter& writer, const FrameHeader& frame, std::span<const std::byte> bytes,
    Layout layout) {
    if (FrameKind{frame.kind} == FrameKind::trunc_suffix)
        return writer.truncation(frame.first_lsn, control_body(bytes, frame, layout).a);
    if (FrameKind{frame.kind} != FrameKind::data) return {};
    RecordCursor cursor(bytes, frame, layout);
    RecordView record;
    while (cursor.next(record))
        PROMTACT_TRY(writer.record(record));
    return {};
}

Result<ExportTally>
export_log(Storage& storage, const ExportOptions& options, const TextSink& sink) {
    ScanOptions scan_options{.strict = options.strict, .index_stride_blocks = ~std::uint32_t{0}};
    LogScan first(storage, scan_options);
    first.run();
    const ScanReport& report = first.report();
    ExportWriter writer(sink);
    if (options.salvage) {
        PROMTACT_TRY(salvage_log(storage, report, writer));
        return writer.tally();
    }
    if (report.verdict == Verdict::refuse) {
        const Explanation words = explain(report);
        return Error{
            words.code, report.sys_errno, words.verdict + " at " + words.where + ": " + words.why};
    }
    if (report.verdict == Verdict::fresh || !report.super)
        return Error{Errc::not_found, 0, report.text};
    const Super& super = *report.super;
    PROMTACT_TRY(writer.begin(
        {.uuid = super.uuid,
         .layout = super.layout,
         .segment_bytes = super.segment_bytes,
         .first_lsn = report.first_live_lsn}));
    Result<void> written;
    scan_options.on_frame = [&](const FrameHeader& frame, std::span<const std::byte> bytes) {
        if (written) written = write_frame(writer, frame, bytes, super.layout);
    };
    LogScan second(storage, scan_options);
    second.run();
    PROMTACT_TRY(std::move(written));
    if (second.report().verdict != report.verdict || second.report().end != report.end)
        return Error{Errc::busy, 0, "the log changed while it was exported"};
    PROMTACT_TRY(writer.skip_to(report.end.next_lsn));
    PROMTACT_ASSERT(writer.tally().gaps == 0);
    PROMTACT_TRY(writer.end());
    return writer.tally();
}

} // namespace promtact::wal
