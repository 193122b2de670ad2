// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <fmt/format.h>

#include <promtact/wal/dump.hpp>

#include "repair_internal.hpp"

namespace promtact::wal {
namespace {

using Block = std::span<const std::byte, block_bytes>;

std::string frame_words(const FrameHeader& frame, std::uint64_t at, Layout layout, bool json) {
    const bool known = frame.kind >= static_cast<std::uint32_t>(FrameKind::data) &&
                       frame.kind <= static_cast<std::uint32_t>(FrameKind::watermark);
    const std::string kind =
        known ? std::string(to_string(FrameKind{frame.kind})) : fmt::format("kind {}", frame.kind);
    const char* fields = check_frame_fields(frame, layout, ~std::uint64_t{0});
    const std::string_view note = frame.block_no != at ? "misplaced"
                                  : fields != nullptr  ? std::string_view(fields)
                                                       : std::string_view("");
    return fmt::format(
        fmt::runtime(
            json
                ? R"("what":"frame","kind":"{}","first_lsn":{},"records":{},"blocks":{},"salt":{},)"
                  R"("block_no":{},"note":"{}")"
                : "frame {} LSN {} records {} blocks {} salt {:#018x} block_no {} {}"),
        kind, frame.first_lsn, frame.records, frame.blocks, frame.salt, frame.block_no, note);
}

std::string words_of(Block block, std::uint64_t at, Layout& layout, bool json) {
    SegmentHeader header;
    FrameHeader frame;
    if (is_zero(block)) return json ? R"("what":"zero")" : "zero";
    if (decode(block, header) == BlockContent::valid) {
        layout = header.layout == Layout::fixed ? Layout::fixed : Layout::variable;
        return fmt::format(
            fmt::runtime(
                json ? R"("what":"header","segment":{},"first_lsn":{},"salt":{})"
                     : "header of segment {} first LSN {} salt {:#018x}"),
            header.segment, header.first_lsn, header.salt);
    }
    if (decode_frame(block, layout, frame) == BlockContent::valid)
        return frame_words(frame, at, layout, json);
    return json ? R"("what":"other")" : "other: body of a frame, or damage";
}

} // namespace

Result<void> dump_blocks(Storage& storage, std::uint64_t segment, bool json, const TextSink& sink) {
    SnapshotPump pump(storage);
    const std::string name = segment_name(segment);
    PROMTACT_TRY_ASSIGN(const std::uint64_t size, pump.open(LogScan::segment_file, name));
    const std::size_t chunk = static_cast<std::size_t>(std::min<std::uint64_t>(
        copy_chunk_bytes, (size + block_bytes - 1) / block_bytes * block_bytes));
    PumpBuffer buffer(chunk, std::max(pump.limits().align_memory, 64U));
    Layout layout = Layout::variable;
    // Runs of zeros are one line.
    std::uint64_t zeros_from = ~std::uint64_t{0};
    const auto flush_zeros = [&](std::uint64_t at) -> Result<void> {
        if (zeros_from == ~std::uint64_t{0}) return {};
        const std::uint64_t from = std::exchange(zeros_from, ~std::uint64_t{0});
        return sink(fmt::format(
            fmt::runtime(
                json ? "{{\"block\":{},\"last\":{},\"what\":\"zero\"}}\n"
                     : "block {} to {} zero\n"),
            from, at - 1));
    };
    for (std::uint64_t at = 0; at < size; at += chunk) {
        PROMTACT_TRY_ASSIGN(
            const std::size_t bytes, pump.read(LogScan::segment_file, at, buffer.span(), name));
        for (std::size_t i = 0; i + block_bytes <= bytes; i += block_bytes) {
            const std::uint64_t number = (at + i) / block_bytes;
            const Block block = buffer.span().subspan(i).first<block_bytes>();
            if (is_zero(block)) {
                if (zeros_from == ~std::uint64_t{0}) zeros_from = number;
                continue;
            }
            PROMTACT_TRY(flush_zeros(number));
            PROMTACT_TRY(sink(fmt::format(
                fmt::runtime(json ? "{{\"block\":{},{}}}\n" : "block {} {}\n"), number,
                words_of(block, number, layout, json))));
        }
    }
    PROMTACT_TRY(flush_zeros(size / block_bytes));
    if (size % block_bytes == 0) return {};
    return sink(fmt::format(
        fmt::runtime(
            json ? "{{\"block\":{},\"what\":\"cut\",\"bytes\":{}}}\n"
                 : "block {} cut off after {} bytes\n"),
        size / block_bytes, size % block_bytes));
}

} // namespace promtact::wal
