// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <iterator>

#include <fmt/format.h>

#include <promtact/base/assert.hpp>
#include <promtact/wal/dump.hpp>

namespace promtact::wal {
namespace {

void append_hex(std::string& text, std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4U];
        text += digits[std::to_integer<unsigned>(byte) & 15U];
    }
}

class Dumper {
  public:
    Dumper(const DumpOptions& options, const TextSink& sink) : options_(options), sink_(sink) {}

    void segment(const SegmentHeader& header) {
        layout_ = header.layout;
        if (!written_) return;
        text_.clear();
        put(options_.json
                ? R"({{"segment":{},"salt":{},"first_lsn":{},"previous":{},"end_before":"{}","recycled":{}}})"
                : "segment {} salt {:#018x} first LSN {} after segment {} ({}){}",
            header.segment, header.salt, header.first_lsn, header.previous.segment,
            end_words(header.previous_end), recycled_words(header.recycled));
        written_ = sink_(text_ += '\n');
    }

    void frame(const FrameHeader& frame, std::span<const std::byte> bytes) {
        if (!written_) return;
        const Lsn last = frame.records == 0 ? frame.first_lsn : frame.first_lsn + frame.records - 1;
        if (last < options_.from || frame.first_lsn > options_.through) return;
        text_.clear();
        put(options_.json
                ? R"({{"block":{},"kind":"{}","first_lsn":{},"records":{},"blocks":{},)"
                  R"("body_bytes":{},"durable_lsn":{},"chain":{}{}}})"
                : "  block {} {} LSN {} records {} blocks {} body {} durable {} chain {:#018x}{}",
            frame.block_no, to_string(FrameKind{frame.kind}), frame.first_lsn, frame.records,
            frame.blocks, frame.body_bytes, frame.durable_lsn, frame.chain,
            control_words(frame, bytes));
        written_ = sink_(text_ += '\n');
        if (!options_.records || FrameKind{frame.kind} != FrameKind::data) return;
        RecordCursor cursor(bytes, frame, layout_);
        RecordView view;
        while (written_ && cursor.next(view))
            if (view.lsn >= options_.from && view.lsn <= options_.through) record(view);
    }

    [[nodiscard]] Result<void> written() && { return std::move(written_); }

  private:
    template <class... Args>
    void put(std::string_view format, const Args&... args) {
        fmt::format_to(std::back_inserter(text_), fmt::runtime(format), args...);
    }

    void record(const RecordView& view) {
        text_.clear();
        put(options_.json ? R"({{"lsn":{},"type":{},"flags":{},"schema":{},"bytes":{})"
                          : "    record {} type {} flags {} schema {} bytes {}",
            view.lsn, view.tag.type, view.tag.flags, view.tag.schema, view.payload.size());
        if (options_.payload) {
            text_ += options_.json ? ",\"payload\":\"" : "\n      ";
            append_hex(text_, view.payload);
            if (options_.json) text_ += '"';
        }
        if (options_.json) text_ += '}';
        written_ = sink_(text_ += '\n');
    }

    static std::string_view end_words(PreviousEnd end) {
        return end == PreviousEnd::none     ? "none"
               : end == PreviousEnd::sealed ? "sealed"
                                            : "repaired";
    }
    [[nodiscard]] std::string_view recycled_words(bool recycled) const {
        if (options_.json) return recycled ? "true" : "false";
        return recycled ? " recycled" : "";
    }
    [[nodiscard]] std::string
    control_words(const FrameHeader& frame, std::span<const std::byte> bytes) const {
        const FrameKind kind{frame.kind};
        if (kind != FrameKind::fence && kind != FrameKind::trunc_suffix) return {};
        const ControlBody body = control_body(bytes, frame, layout_);
        if (kind == FrameKind::trunc_suffix) {
            return fmt::format(
                fmt::runtime(options_.json ? R"(,"keep":{})" : " keeps through {}"), body.a);
        }
        return fmt::format(
            fmt::runtime(
                options_.json ? R"(,"live_lsn":{},"live_segment":{})"
                              : " live from LSN {}, segment {}"),
            body.a, body.b);
    }

    const DumpOptions& options_;
    const TextSink& sink_;
    Layout layout_ = Layout::variable;
    std::string text_{};
    Result<void> written_{};
};

} // namespace

Result<ScanReport> dump_log(Storage& storage, const DumpOptions& options, const TextSink& sink) {
    Dumper dumper(options, sink);
    ScanOptions scan_options{.strict = options.strict, .index_stride_blocks = ~std::uint32_t{0}};
    scan_options.on_segment = [&](const SegmentHeader& header) { dumper.segment(header); };
    scan_options.on_frame = [&](const FrameHeader& frame, std::span<const std::byte> bytes) {
        dumper.frame(frame, bytes);
    };
    LogScan scan(storage, scan_options);
    scan.run();
    PROMTACT_TRY(std::move(dumper).written());
    return scan.report();
}

LogFigures survey_log(Storage& storage, bool strict) {
    LogFigures figures;
    Layout layout = Layout::variable;
    ScanOptions options{.strict = strict, .index_stride_blocks = ~std::uint32_t{0}};
    options.on_segment = [&](const SegmentHeader& header) {
        layout = header.layout;
        figures.segments.push_back(
            {.segment = header.segment,
             .first_lsn = header.first_lsn,
             .next_lsn = header.first_lsn,
             .recycled = header.recycled});
    };
    options.on_frame = [&](const FrameHeader& frame, std::span<const std::byte> bytes) {
        PROMTACT_ASSERT(!figures.segments.empty());
        SegmentFigures& segment = figures.segments.back();
        const FrameKind kind{frame.kind};
        ++segment.frames;
        segment.frame_bytes += bytes.size();
        segment.next_lsn = frame.first_lsn + frame.records;
        segment.sealed = kind == FrameKind::seal;
        figures.truncations += kind == FrameKind::trunc_suffix ? 1 : 0;
        figures.fences += kind == FrameKind::fence ? 1 : 0;
        figures.watermarks += kind == FrameKind::watermark ? 1 : 0;
        if (kind != FrameKind::data) return;
        RecordCursor cursor(bytes, frame, layout);
        RecordView record;
        while (cursor.next(record)) {
            ++segment.records;
            segment.payload_bytes += record.payload.size();
        }
    };
    LogScan scan(storage, options);
    scan.run();
    figures.report = scan.report();
    return figures;
}

SegmentFigures LogFigures::sum() const noexcept {
    SegmentFigures all;
    for (const SegmentFigures& one : segments) {
        all.frames += one.frames;
        all.records += one.records;
        all.payload_bytes += one.payload_bytes;
        all.frame_bytes += one.frame_bytes;
    }
    return all;
}

} // namespace promtact::wal
