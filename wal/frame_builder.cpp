// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>

#include "frame_internal.hpp"

namespace promtact::wal {

namespace {

/// Everything but the table and the checksum.
void store_header(std::span<std::byte> out, const FrameHeader& header) noexcept {
    store_le<std::uint32_t>(out, At::magic, frame_magic);
    store_le<std::uint64_t>(out, At::first_lsn, header.first_lsn);
    store_le<std::uint64_t>(out, At::prev_chain, header.prev_chain);
    store_le<std::uint64_t>(out, At::durable_lsn, header.durable_lsn);
    store_le<std::uint32_t>(out, At::block_no, header.block_no);
    store_le<std::uint32_t>(out, At::blocks, header.blocks);
    store_le<std::uint32_t>(out, At::body_bytes, header.body_bytes);
    store_le<std::uint32_t>(out, At::records, header.records);
    store_le<std::uint32_t>(out, At::kind, header.kind);
    store_le<std::uint32_t>(out, At::table_bytes, header.table_bytes);
    store_le<std::uint64_t>(out, At::salt, header.salt);
}

/// Fills in sums over a frame whose body and padding are in place.
Chain close_frame(std::span<std::byte> frame, FrameHeader header, Layout layout) noexcept {
    PROMTACT_ASSERT(frame.size() == std::size_t{header.blocks} * block_bytes);
    if (layout == Layout::fixed) {
        PROMTACT_ASSERT(header.blocks == 1);
        header.table_bytes = block_checksum(frame.subspan(frame_header_bytes));
    } else {
        std::memset(frame.data() + At::table, 0, header.table_bytes);
        for (std::uint32_t i = 0; i < header.blocks; ++i) {
            std::span<const std::byte> block = frame.subspan(i * block_bytes, block_bytes);
            if (i == 0) block = block.subspan(header_end(header, layout));
            store_le<std::uint32_t>(frame, At::table + 4 * std::size_t{i}, block_checksum(block));
        }
    }
    store_header(frame, header);
    const std::size_t end = header_end(header, layout);
    const std::uint32_t crc = seeded(header.salt, frame.subspan(8, end - 8));
    store_le<std::uint32_t>(frame, At::crc, crc);
    return chain_of(crc, frame, header, layout);
}

void zero_from(std::span<std::byte> bytes, std::size_t at) noexcept {
    std::memset(bytes.data() + at, 0, bytes.size() - at);
}

} // namespace

void FrameBuilder::start(std::span<std::byte> buffer, Layout layout, Lsn first_lsn) noexcept {
    PROMTACT_ASSERT(buffer.size() % block_bytes == 0);
    PROMTACT_ASSERT(buffer.size() >= block_bytes);
    PROMTACT_ASSERT(buffer.size() <= std::size_t{frame_blocks_max} * block_bytes);
    buffer_ = buffer;
    layout_ = layout;
    first_lsn_ = first_lsn;
    records_ = 0;
    body_bytes_ = 0;
    body_at_ = frame_header_bytes + (layout == Layout::variable ? table_bytes_for(expected_) : 0);
}

void FrameBuilder::limit(std::size_t bytes) noexcept {
    PROMTACT_ASSERT(records_ == 0);
    PROMTACT_ASSERT(bytes % block_bytes == 0);
    if (bytes < buffer_.size()) buffer_ = buffer_.first(bytes);
}

/// The table before the body grows with the frame, in steps. The body begins where it did in the
/// frame before: most are alike, and then nothing is moved.
void FrameBuilder::move_body(std::uint32_t to) noexcept {
    if (to == body_at_) return;
    std::memmove(buffer_.data() + to, buffer_.data() + body_at_, body_bytes_);
    body_at_ = to;
}

bool FrameBuilder::append(std::span<const std::byte> payload, RecordTag tag) noexcept {
    if (layout_ == Layout::fixed) return append_fixed(payload);
    if (payload.size() > buffer_.size()) return false;
    const std::uint64_t whole = record_body_bytes(payload.size());
    const std::uint32_t blocks = blocks_for_body(body_bytes_ + whole);
    if (blocks == 0 || std::size_t{blocks} * block_bytes > buffer_.size()) return false;
    const std::uint32_t body_at = frame_header_bytes + table_bytes_for(blocks);
    const bool expected_fits = body_at_ + body_bytes_ + whole <= buffer_.size();
    if (body_at > body_at_ || !expected_fits) move_body(body_at);
    const auto out =
        buffer_.subspan(std::size_t{body_at_} + body_bytes_, static_cast<std::size_t>(whole));
    zero_from(out, out.size() - 8); // the padding lies within the last eight bytes
    store_le<std::uint32_t>(out, 0, static_cast<std::uint32_t>(payload.size()));
    store_le<std::uint16_t>(out, 4, tag.type);
    store_le<std::uint16_t>(out, 6, tag.flags);
    store_le<std::uint32_t>(out, 12, tag.schema);
    if (!payload.empty()) {
        std::memcpy(out.data() + record_header_bytes, payload.data(), payload.size());
    }
    const auto stored = out.subspan(record_header_bytes, payload.size());
    const std::uint32_t crc =
        record_crc(first_lsn_ + records_, out.first(record_header_bytes), stored);
    store_le<std::uint32_t>(out, 8, crc);
    body_bytes_ += static_cast<std::uint32_t>(whole);
    ++records_;
    return true;
}

bool FrameBuilder::append_fixed(std::span<const std::byte> payload) noexcept {
    PROMTACT_ASSERT(payload.size() == record_bytes);
    const std::size_t block = records_ / records_per_block;
    if ((block + 1) * block_bytes > buffer_.size()) return false;
    const auto out = buffer_.subspan(
        block * block_bytes + frame_header_bytes + records_ % records_per_block * record_bytes,
        record_bytes);
    std::memcpy(out.data(), payload.data(), payload.size());
    store_le<std::uint64_t>(out, RecordLayout::sequence, first_lsn_ + records_);
    store_le<std::uint32_t>(out, RecordLayout::checksum, crc32c(out.first(RecordLayout::checksum)));
    ++records_;
    return true;
}

FrameBuilder::Closed FrameBuilder::finish(const Closing& closing) noexcept {
    PROMTACT_ASSERT(records_ > 0);
    if (layout_ == Layout::fixed) return finish_fixed(closing);
    const std::uint32_t blocks = blocks_for_body(body_bytes_);
    expected_ = blocks;
    move_body(frame_header_bytes + table_bytes_for(blocks));
    const auto frame = buffer_.first(std::size_t{blocks} * block_bytes);
    zero_from(frame, std::size_t{body_at_} + body_bytes_);
    const FrameHeader header{
        .first_lsn = first_lsn_,
        .prev_chain = closing.prev_chain,
        .durable_lsn = closing.durable_lsn,
        .block_no = closing.block_no,
        .blocks = blocks,
        .body_bytes = body_bytes_,
        .records = records_,
        .kind = static_cast<std::uint32_t>(FrameKind::data),
        .table_bytes = table_bytes_for(blocks),
        .salt = closing.salt};
    return {.blocks = blocks, .chain = close_frame(frame, header, layout_)};
}

FrameBuilder::Closed FrameBuilder::finish_fixed(const Closing& closing) noexcept {
    Closed closed{.chain = closing.prev_chain};
    for (std::uint32_t done = 0; done < records_; done += records_per_block) {
        const std::uint32_t count = std::min(records_per_block, records_ - done);
        const auto block = buffer_.subspan(std::size_t{closed.blocks} * block_bytes, block_bytes);
        zero_from(block, frame_header_bytes + count * record_bytes);
        const FrameHeader header{
            .first_lsn = first_lsn_ + done,
            .prev_chain = closed.chain,
            .durable_lsn = closing.durable_lsn,
            .block_no = closing.block_no + closed.blocks,
            .blocks = 1,
            .body_bytes = static_cast<std::uint32_t>(count * record_bytes),
            .records = count,
            .kind = static_cast<std::uint32_t>(FrameKind::data),
            .salt = closing.salt};
        closed.chain = close_frame(block, header, layout_);
        ++closed.blocks;
    }
    return closed;
}

Chain encode_control_frame(
    std::span<std::byte, block_bytes> out, Layout layout, FrameKind kind, Lsn first_lsn,
    const FrameBuilder::Closing& closing, std::uint64_t a, std::uint64_t b) noexcept {
    PROMTACT_ASSERT(kind != FrameKind::data);
    const FrameHeader header{
        .first_lsn = first_lsn,
        .prev_chain = closing.prev_chain,
        .durable_lsn = closing.durable_lsn,
        .block_no = closing.block_no,
        .blocks = 1,
        .body_bytes = control_body_bytes,
        .records = kind == FrameKind::trunc_suffix ? 1U : 0U,
        .kind = static_cast<std::uint32_t>(kind),
        .table_bytes = layout == Layout::variable ? table_bytes_for(1) : 0,
        .salt = closing.salt};
    std::memset(out.data(), 0, out.size());
    const std::size_t at = body_offset(header, layout);
    store_le<std::uint64_t>(out, at, a);
    store_le<std::uint64_t>(out, at + 8, b);
    return close_frame(out, header, layout);
}

} // namespace promtact::wal
