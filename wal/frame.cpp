// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/trace_hash.hpp>

#include "frame_internal.hpp"

namespace promtact::wal {

namespace {

const char* check_records(std::span<const std::byte> body, const FrameHeader& header) noexcept {
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < header.records; ++i) {
        if (body.size() - at < record_header_bytes) return "a record header leaves the body";
        const auto bytes = body.subspan(at);
        const std::uint32_t payload = load_le<std::uint32_t>(bytes, 0);
        if (payload > bytes.size() - record_header_bytes) return "a record leaves the body";
        const std::uint64_t whole = record_body_bytes(payload);
        if (whole > bytes.size()) return "a record leaves the body";
        const auto content = bytes.subspan(record_header_bytes, payload);
        if (load_le<std::uint32_t>(bytes, 8) !=
            record_crc(header.first_lsn + i, bytes.first(record_header_bytes), content)) {
            return "a record's checksum does not hold";
        }
        const std::size_t used = record_header_bytes + std::size_t{payload};
        if (!is_zero(bytes.subspan(used, static_cast<std::size_t>(whole) - used))) {
            return "bytes between records are not zero";
        }
        at += static_cast<std::size_t>(whole);
    }
    return at == body.size() ? nullptr : "the records do not fill the body";
}

const char*
check_fixed_records(std::span<const std::byte> body, const FrameHeader& header) noexcept {
    for (std::uint32_t i = 0; i < header.records; ++i) {
        const auto record = body.subspan(i * record_bytes, record_bytes);
        if (!checksum_matches(record)) return "a record's checksum does not hold";
        if (load_le<std::uint64_t>(record, RecordLayout::sequence) != header.first_lsn + i) {
            return "a record's sequence is not its place";
        }
    }
    return nullptr;
}

} // namespace

std::string_view to_string(FrameKind kind) noexcept {
    switch (kind) {
    case FrameKind::data:
        return "data";
    case FrameKind::seal:
        return "seal";
    case FrameKind::fence:
        return "fence";
    case FrameKind::trunc_suffix:
        return "truncation";
    case FrameKind::watermark:
        return "watermark";
    }
    return "unknown";
}

std::uint32_t block_checksum(std::span<const std::byte> bytes) noexcept {
    return static_cast<std::uint32_t>(digest128(bytes).low);
}

std::uint32_t blocks_for_body(std::uint64_t body_bytes) noexcept {
    constexpr std::uint64_t largest = std::uint64_t{frame_blocks_max} * block_bytes;
    if (body_bytes > largest) return 0;
    for (const Tier& tier : tiers) {
        const std::uint64_t bytes = frame_header_bytes + tier.table_bytes + body_bytes;
        const std::uint64_t blocks = (bytes + block_bytes - 1) / block_bytes;
        if (blocks <= tier.blocks) return static_cast<std::uint32_t>(blocks);
    }
    return 0;
}

BlockContent decode_frame(
    std::span<const std::byte, block_bytes> block, Layout layout, FrameHeader& out) noexcept {
    if (load_le<std::uint32_t>(block, At::magic) != frame_magic) {
        return is_zero(block) ? BlockContent::zero : BlockContent::damaged;
    }
    out.table_bytes = load_le<std::uint32_t>(block, At::table_bytes);
    if (layout == Layout::variable) {
        const bool known = std::any_of(tiers.begin(), tiers.end(), [&](const Tier& tier) {
            return tier.table_bytes == out.table_bytes;
        });
        if (!known) return BlockContent::damaged;
    }
    out.salt = load_le<std::uint64_t>(block, At::salt);
    out.crc = load_le<std::uint32_t>(block, At::crc);
    const std::size_t end = header_end(out, layout);
    if (out.crc != seeded(out.salt, block.subspan(8, end - 8))) return BlockContent::damaged;
    out.first_lsn = load_le<std::uint64_t>(block, At::first_lsn);
    out.prev_chain = load_le<std::uint64_t>(block, At::prev_chain);
    out.durable_lsn = load_le<std::uint64_t>(block, At::durable_lsn);
    out.block_no = load_le<std::uint32_t>(block, At::block_no);
    out.blocks = load_le<std::uint32_t>(block, At::blocks);
    out.body_bytes = load_le<std::uint32_t>(block, At::body_bytes);
    out.records = load_le<std::uint32_t>(block, At::records);
    out.kind = load_le<std::uint32_t>(block, At::kind);
    out.chain = chain_of(out.crc, block, out, layout);
    return BlockContent::valid;
}

const char*
check_frame_fields(const FrameHeader& header, Layout layout, std::uint64_t blocks_left) noexcept {
    if (header.blocks == 0) return "the frame has no blocks";
    if (header.blocks > blocks_left) return "the frame leaves the segment";
    if (header.blocks > frame_blocks_max) return "the frame has too many blocks";
    const std::uint64_t room = std::uint64_t{header.blocks} * block_bytes;
    const std::uint64_t end = body_offset(header, layout) + std::uint64_t{header.body_bytes};
    if (end > room) return "the body leaves the frame";
    const bool data = header.kind == static_cast<std::uint32_t>(FrameKind::data);
    const bool takes_lsn = header.kind == static_cast<std::uint32_t>(FrameKind::trunc_suffix);
    if (!data) {
        if (header.blocks != 1) return "a control frame has one block";
        if (header.body_bytes != control_body_bytes) return "a control frame has 16 body bytes";
        if (header.records != (takes_lsn ? 1 : 0)) return "a control frame counts no records";
    } else if (layout == Layout::variable) {
        if (header.blocks != blocks_for_body(header.body_bytes)) return "the block count is wrong";
        if (header.records == 0) return "a data frame has no records";
        if (header.records > header.body_bytes / record_header_bytes) return "too many records";
    } else {
        if (header.blocks != 1) return "a fixed frame has one block";
        if (header.records == 0) return "a data frame has no records";
        if (header.records > records_per_block) return "too many records";
        if (header.body_bytes != header.records * record_bytes) return "the body length is wrong";
    }
    if (layout == Layout::variable && header.table_bytes != table_bytes_for(header.blocks)) {
        return "the table's length is wrong";
    }
    if (header.durable_lsn >= header.first_lsn) return "it vouches for records not yet written";
    if (header.first_lsn > lsn_last + 1 || header.records > lsn_last + 1 - header.first_lsn)
        return "the LSN is impossible";
    return nullptr;
}

bool frame_block_matches(
    std::span<const std::byte> first_block, const FrameHeader& header, Layout layout,
    std::uint32_t index, std::span<const std::byte> block) noexcept {
    PROMTACT_ASSERT(index < header.blocks);
    PROMTACT_ASSERT(block.size() == block_bytes);
    if (index == 0) block = block.subspan(header_end(header, layout));
    const std::uint32_t stated =
        layout == Layout::fixed
            ? header.table_bytes
            : load_le<std::uint32_t>(first_block, At::table + 4 * std::size_t{index});
    return block_checksum(block) == stated;
}

const char*
check_body(std::span<const std::byte> frame, const FrameHeader& header, Layout layout) noexcept {
    PROMTACT_ASSERT(frame.size() == std::size_t{header.blocks} * block_bytes);
    const std::size_t begin = body_offset(header, layout);
    if (!is_zero(frame.subspan(begin + header.body_bytes))) return "the padding is not zero";
    if (layout == Layout::variable) {
        const std::size_t used = At::table + 4 * std::size_t{header.blocks};
        if (!is_zero(frame.subspan(used, begin - used))) return "the table's rest is not zero";
    }
    if (header.kind != static_cast<std::uint32_t>(FrameKind::data)) return nullptr;
    const auto body = frame.subspan(begin, header.body_bytes);
    return layout == Layout::variable ? check_records(body, header)
                                      : check_fixed_records(body, header);
}

ControlBody
control_body(std::span<const std::byte> frame, const FrameHeader& header, Layout layout) noexcept {
    PROMTACT_ASSERT(header.body_bytes == control_body_bytes);
    const std::size_t at = body_offset(header, layout);
    return {.a = load_le<std::uint64_t>(frame, at), .b = load_le<std::uint64_t>(frame, at + 8)};
}

RecordCursor::RecordCursor(
    std::span<const std::byte> frame, const FrameHeader& header, Layout layout) noexcept
    : layout_(layout), lsn_(header.first_lsn), left_(0) {
    if (header.kind != static_cast<std::uint32_t>(FrameKind::data)) return;
    rest_ = frame.subspan(body_offset(header, layout), header.body_bytes);
    left_ = header.records;
}

bool RecordCursor::next(RecordView& out) noexcept {
    if (left_ == 0) return false;
    --left_;
    if (layout_ == Layout::fixed) {
        out = {.lsn = lsn_++, .payload = rest_.first(record_bytes)};
        rest_ = rest_.subspan(record_bytes);
        return true;
    }
    const std::uint32_t payload = load_le<std::uint32_t>(rest_, 0);
    out = {
        .lsn = lsn_++,
        .tag =
            {.type = load_le<std::uint16_t>(rest_, 4),
             .flags = load_le<std::uint16_t>(rest_, 6),
             .schema = load_le<std::uint32_t>(rest_, 12)},
        .payload = rest_.subspan(record_header_bytes, payload)};
    rest_ = rest_.subspan(static_cast<std::size_t>(record_body_bytes(payload)));
    return true;
}

} // namespace promtact::wal
