// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The bytes of a snapshot image: header, chunks, trailer. wal/SNAPSHOT_FORMAT.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::wal {

inline constexpr std::uint32_t snapshot_block_bytes = 4096; // every part starts and ends on one
inline constexpr std::uint16_t snapshot_major = 1;
inline constexpr std::uint16_t snapshot_minor = 0;
inline constexpr std::uint32_t snapshot_header_fixed_bytes = 128;
inline constexpr std::uint32_t snapshot_header_bytes_max = 65536;
inline constexpr std::uint32_t snapshot_metadata_bytes_max =
    snapshot_header_bytes_max - snapshot_header_fixed_bytes;
inline constexpr std::uint32_t snapshot_chunk_header_bytes = 40;
inline constexpr std::uint32_t snapshot_chunk_bytes_min = snapshot_block_bytes;
inline constexpr std::uint64_t snapshot_length_unknown = std::numeric_limits<std::uint64_t>::max();

/// Feature bits. incompat: an image with an unknown bit is not read. ro_compat: it is read, but
/// nothing newer is installed over it. compat: unknown bits change nothing.
inline constexpr std::uint32_t snapshot_incompat_zstd = 1; // some chunks may be compressed

using SnapshotId = std::array<std::byte, 16>;

/// What the header says. Which state the payload holds is the owner's business: metadata carries it
/// (voters, for instance), the store compares only generation, index and the identities.
struct SnapshotInfo {
    std::uint64_t generation = 0; // given by the store, one more than any it has seen
    std::uint64_t index = 0;      // the last log index the payload contains; never goes back
    std::uint64_t term = 0;
    SnapshotId cluster{}; // of another cluster: never read
    SnapshotId log{};     // the log this image belongs to; zero when it belongs to none
    SnapshotId image{};   // names the content: two images with one id have one payload
    std::uint64_t payload_bytes = snapshot_length_unknown; // when the sender knew it beforehand
    std::uint32_t chunk_bytes = 1U << 20;                  // payload of every chunk but the last
    std::uint32_t incompat = 0;
    std::uint32_t ro_compat = 0;
    std::uint32_t compat = 0;
    std::vector<std::byte> metadata{};

    friend bool operator==(const SnapshotInfo&, const SnapshotInfo&) = default;
};

/// Byte offsets in the header. Bytes between the fixed part and the end of the header are metadata,
/// then zeros.
struct SnapshotHeaderLayout {
    static constexpr std::size_t magic = 0;
    static constexpr std::size_t major = 8;
    static constexpr std::size_t minor = 10;
    static constexpr std::size_t checksum = 12;
    static constexpr std::size_t header_bytes = 16;
    static constexpr std::size_t metadata_bytes = 20;
    static constexpr std::size_t incompat = 24;
    static constexpr std::size_t ro_compat = 28;
    static constexpr std::size_t compat = 32;
    static constexpr std::size_t chunk_bytes = 36;
    static constexpr std::size_t generation = 40;
    static constexpr std::size_t index = 48;
    static constexpr std::size_t term = 56;
    static constexpr std::size_t cluster = 64;
    static constexpr std::size_t log = 80;
    static constexpr std::size_t image = 96;
    static constexpr std::size_t payload_bytes = 112;
    static constexpr std::size_t reserved = 120;
};

/// Byte offsets in the header of a chunk.
struct SnapshotChunkLayout {
    static constexpr std::size_t magic = 0;
    static constexpr std::size_t checksum = 4;
    static constexpr std::size_t payload_offset = 8;
    static constexpr std::size_t payload_bytes = 16;
    static constexpr std::size_t stored_bytes = 20;
    static constexpr std::size_t flags = 24;
    static constexpr std::size_t number = 28;
    static constexpr std::size_t sum = 32;
};

/// Byte offsets in the trailer, one block.
struct SnapshotTrailerLayout {
    static constexpr std::size_t magic = 0;
    static constexpr std::size_t reserved = 8;
    static constexpr std::size_t checksum = 12;
    static constexpr std::size_t payload_bytes = 16;
    static constexpr std::size_t file_bytes = 24;
    static constexpr std::size_t chunks = 32;
    static constexpr std::size_t generation = 40;
    static constexpr std::size_t payload_checksum = 48;
    static constexpr std::size_t rest = 52;
};

inline constexpr std::uint32_t snapshot_chunk_zstd = 1; // chunk flag: stored bytes are one frame

/// How far a writer or reader has come. `chain` is the checksum of the last part: each part's
/// checksum starts from the one before, so a part vouches for everything in front of it.
struct SnapshotProgress {
    std::uint64_t file_bytes = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t chunks = 0;
    std::uint32_t chain = 0;
    std::uint32_t payload_crc = 0;
    friend bool operator==(const SnapshotProgress&, const SnapshotProgress&) = default;
};

/// What a chunk's header says, but for its checksum and sum.
struct SnapshotChunk {
    std::uint64_t payload_offset = 0;
    std::uint32_t payload_bytes = 0;
    std::uint32_t stored_bytes = 0;
    std::uint32_t flags = 0;
    std::uint32_t number = 0;
};

/// Size of the header with that much metadata. Requires: bytes <= snapshot_metadata_bytes_max
std::uint32_t snapshot_header_bytes(std::size_t metadata_bytes) noexcept;
/// Size of a chunk on disk, header and padding included.
std::uint32_t snapshot_frame_bytes(std::uint32_t stored_bytes) noexcept;

/// Errors: invalid_argument naming the member: chunk size, metadata too long, unknown features.
Result<void> check_snapshot_info(const SnapshotInfo& info);

/// Writes the header and returns its checksum, the start of the chain.
/// Requires: check_snapshot_info(info); out.size() == snapshot_header_bytes(metadata)
std::uint32_t encode_snapshot_header(const SnapshotInfo& info, std::span<std::byte> out) noexcept;

/// Writes the chunk's header in front of its stored bytes, which stand behind it, clears the
/// padding and returns the checksum. Requires: frame.size() ==
/// snapshot_frame_bytes(chunk.stored_bytes)
std::uint32_t seal_snapshot_chunk(
    const SnapshotChunk& chunk, std::uint32_t chain, std::span<std::byte> frame) noexcept;

/// Writes the trailer behind what progress describes; progress.file_bytes is without it.
void encode_snapshot_trailer(
    const SnapshotProgress& progress, std::uint64_t generation,
    std::span<std::byte, snapshot_block_bytes> out) noexcept;

/// What a reader accepts, whatever an image claims.
struct SnapshotLimits {
    std::uint32_t chunk_bytes_max = 16U << 20; // memory for one chunk is bounded by it
    std::uint32_t incompat_known;              // bits this reader understands
    SnapshotLimits() noexcept;                 // those of this build
};

/// True when this build can compress and decompress chunks.
bool snapshot_zstd_available() noexcept;

/// The length of the whole header, from its first block. Nothing is verified yet.
/// Errors: corrupt (all zero, no magic, impossible length).
Result<std::uint32_t> peek_snapshot_header(std::span<const std::byte> first_block);

/// Reads a whole header. Errors: corrupt (magic, checksum, a field no writer writes); format
/// (intact, but of another major version); unsupported (unknown incompat bits, named; chunks above
/// the limit).
Result<SnapshotInfo>
decode_snapshot_header(std::span<const std::byte> header, const SnapshotLimits& limits = {});

/// True when the block is meant to be a trailer rather than a chunk.
bool is_snapshot_trailer(std::span<const std::byte> block) noexcept;

/// The header of the chunk that must come next, bounds checked against info and progress, checksum
/// not yet. Errors: corrupt, naming offset and field.
Result<SnapshotChunk> peek_snapshot_chunk(
    const SnapshotInfo& info, const SnapshotProgress& progress, std::span<const std::byte> block);

/// Verifies a whole chunk and returns its checksum. Errors: corrupt.
Result<std::uint32_t> verify_snapshot_chunk(
    const SnapshotChunk& chunk, const SnapshotProgress& progress, std::span<const std::byte> frame);

/// Verifies the trailer behind progress. Errors: corrupt, naming offset and field.
Result<void> verify_snapshot_trailer(
    const SnapshotInfo& info, const SnapshotProgress& progress, std::span<const std::byte> block);

} // namespace promtact::wal
