// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/snapshot_decoder.hpp>

#include "snapshot_error_internal.hpp"
#include "snapshot_zstd_internal.hpp"

namespace promtact::wal {

SnapshotDecoder::SnapshotDecoder(std::uint64_t file_bytes, const SnapshotLimits& limits)
    : file_bytes_(file_bytes), limits_(limits) {
    PROMTACT_ASSERT(limits.chunk_bytes_max >= snapshot_chunk_bytes_min);
}
SnapshotDecoder::SnapshotDecoder(SnapshotDecoder&&) noexcept = default;
SnapshotDecoder& SnapshotDecoder::operator=(SnapshotDecoder&&) noexcept = default;
SnapshotDecoder::~SnapshotDecoder() = default;

SnapshotWant SnapshotDecoder::want() const noexcept {
    PROMTACT_ASSERT(!done());
    PROMTACT_ASSERT(progress_.file_bytes % snapshot_block_bytes == 0);
    const std::uint64_t rest =
        file_bytes_ > progress_.file_bytes ? file_bytes_ - progress_.file_bytes : 0;
    return {
        .offset = progress_.file_bytes,
        .bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(rest, want_bytes_))};
}

const SnapshotInfo& SnapshotDecoder::info() const noexcept {
    PROMTACT_ASSERT(info_.has_value());
    return *info_;
}

std::size_t SnapshotDecoder::memory_bytes() const noexcept {
    return plain_.capacity() + (zstd_ ? zstd_->memory_bytes() : 0);
}

Result<SnapshotDecoder::Event> SnapshotDecoder::accept(std::span<const std::byte> bytes) {
    PROMTACT_ASSERT(!done());
    PROMTACT_ASSERT(bytes.size() == want().bytes);
    payload_ = {};
    auto event = state_ == State::header ? accept_header(bytes) : accept_body(bytes);
    if (!event || *event == Event::end) state_ = State::done;
    return event;
}

Result<SnapshotDecoder::Event> SnapshotDecoder::accept_header(std::span<const std::byte> bytes) {
    PROMTACT_TRY_ASSIGN(const std::uint32_t header_bytes, peek_snapshot_header(bytes));
    if (header_bytes > want_bytes_) {
        want_bytes_ = header_bytes;
        return Event::more;
    }
    PROMTACT_TRY_ASSIGN(SnapshotInfo info, decode_snapshot_header(bytes, limits_));
    PROMTACT_ASSERT(info.chunk_bytes <= limits_.chunk_bytes_max);
    info_ = std::move(info);
    state_ = State::body;
    progress_.file_bytes = header_bytes;
    progress_.chain = load_le<std::uint32_t>(bytes, SnapshotHeaderLayout::checksum);
    // Plain chunks have one size, so that one read brings a whole one. Compressed ones differ: the
    // first block tells.
    want_bytes_ =
        info_->incompat == 0 ? snapshot_frame_bytes(info_->chunk_bytes) : snapshot_block_bytes;
    return Event::header;
}

Result<SnapshotDecoder::Event> SnapshotDecoder::accept_body(std::span<const std::byte> bytes) {
    PROMTACT_ASSERT(info_.has_value());
    if (bytes.size() < snapshot_block_bytes) {
        return snapshot_error(
            Errc::corrupt, file_bytes_, "chunk " + std::to_string(progress_.chunks),
            "the file ends where a chunk or the trailer must be");
    }
    if (is_snapshot_trailer(bytes)) return accept_trailer(bytes.first(snapshot_block_bytes));
    PROMTACT_TRY_ASSIGN(const SnapshotChunk chunk, peek_snapshot_chunk(*info_, progress_, bytes));
    const std::uint32_t frame_bytes = snapshot_frame_bytes(chunk.stored_bytes);
    if (frame_bytes <= bytes.size()) return accept_chunk(chunk, bytes.first(frame_bytes));
    if (frame_bytes > file_bytes_ - progress_.file_bytes) {
        return snapshot_error(
            Errc::corrupt, file_bytes_, "chunk " + std::to_string(progress_.chunks),
            "the file ends inside it");
    }
    PROMTACT_ASSERT(frame_bytes > want_bytes_);
    want_bytes_ = frame_bytes;
    return Event::more;
}

Result<SnapshotDecoder::Event>
SnapshotDecoder::accept_chunk(const SnapshotChunk& chunk, std::span<const std::byte> frame) {
    PROMTACT_TRY_ASSIGN(const std::uint32_t chain, verify_snapshot_chunk(chunk, progress_, frame));
    const auto stored = frame.subspan(snapshot_chunk_header_bytes, chunk.stored_bytes);
    payload_ = stored;
    if (chunk.flags == snapshot_chunk_zstd) {
        PROMTACT_ASSERT(chunk.payload_bytes <= limits_.chunk_bytes_max);
        if (!zstd_) zstd_ = std::make_unique<ZstdChunk>();
        plain_.resize(chunk.payload_bytes);
        auto plain = zstd_->decompress(stored, plain_);
        if (!plain) {
            return snapshot_error(
                plain.error().code, progress_.file_bytes + snapshot_chunk_header_bytes,
                "chunk " + std::to_string(progress_.chunks), plain.error().context);
        }
        payload_ = plain_;
    }
    PROMTACT_ASSERT(payload_.size() == chunk.payload_bytes);
    progress_.file_bytes += frame.size();
    progress_.payload_bytes += chunk.payload_bytes;
    progress_.chunks += 1;
    progress_.chain = chain;
    progress_.payload_crc = crc32c_extend(progress_.payload_crc, payload_);
    if (info_->incompat != 0) want_bytes_ = snapshot_block_bytes;
    return Event::chunk;
}

Result<SnapshotDecoder::Event> SnapshotDecoder::accept_trailer(std::span<const std::byte> block) {
    PROMTACT_TRY(verify_snapshot_trailer(*info_, progress_, block));
    progress_.file_bytes += snapshot_block_bytes;
    if (progress_.file_bytes != file_bytes_) {
        return snapshot_error(
            Errc::corrupt, progress_.file_bytes, "end",
            "the file has " + std::to_string(file_bytes_ - progress_.file_bytes) +
                " bytes behind the trailer");
    }
    return Event::end;
}

} // namespace promtact::wal
