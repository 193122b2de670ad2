// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstring>
#include <string>
#include <string_view>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/base/units.hpp>
#include <promtact/wal/snapshot_format.hpp>

#include "snapshot_error_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::string_view header_magic = "PMTSNAP1";
constexpr std::string_view chunk_magic = "PSCH";
constexpr std::string_view trailer_magic = "PMTSNAPE";
using H = SnapshotHeaderLayout;
using C = SnapshotChunkLayout;
using T = SnapshotTrailerLayout;

static_assert(H::major == H::magic + 8);
static_assert(H::checksum == H::minor + 2);
static_assert(H::header_bytes == H::checksum + 4);
static_assert(H::metadata_bytes == H::header_bytes + 4);
static_assert(H::incompat == H::metadata_bytes + 4);
static_assert(H::chunk_bytes == H::compat + 4);
static_assert(H::generation == H::chunk_bytes + 4);
static_assert(H::generation % 8 == 0);
static_assert(H::cluster == H::term + 8);
static_assert(H::payload_bytes == H::image + 16);
static_assert(snapshot_header_fixed_bytes == H::reserved + 8);
static_assert(snapshot_header_bytes_max % snapshot_block_bytes == 0);
static_assert(C::sum == C::number + 4);
static_assert(C::sum % 8 == 0);
static_assert(snapshot_chunk_header_bytes == C::sum + 8);
static_assert(T::payload_bytes == T::checksum + 4);
static_assert(T::rest == T::payload_checksum + 4);

constexpr std::uint32_t round_to_block(std::uint64_t bytes) noexcept {
    const auto rounded = round_up({bytes}, {snapshot_block_bytes}).value;
    PROMTACT_ASSERT(rounded <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(rounded);
}

/// The checksum of bytes whose own four checksum bytes at `at` count as zero.
std::uint32_t
crc_around(std::uint32_t seed, std::span<const std::byte> bytes, std::size_t at) noexcept {
    PROMTACT_ASSERT(at + 4 <= bytes.size());
    constexpr std::array<std::byte, 4> zeros{};
    const std::uint32_t front = crc32c_extend(seed, bytes.first(at));
    return crc32c_extend(crc32c_extend(front, zeros), bytes.subspan(at + 4));
}

/// XXH3 of everything behind the chunk's header. Not a CRC: any piece that ends in its own CRC32C
/// leaves the same remainder, so that one such piece could stand for another unnoticed.
std::uint64_t content_sum(std::span<const std::byte> frame) noexcept {
    return digest128(frame.subspan(snapshot_chunk_header_bytes)).low;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) noexcept {
    return bytes.size() >= magic.size() && text_of(bytes.first(magic.size())) == magic;
}

bool all_zero(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) return true;
    // Every byte equals its neighbour and the first is zero: at the speed of memcmp.
    return bytes.front() == std::byte{0} &&
           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

void put(std::span<std::byte> out, std::size_t at, std::span<const std::byte> bytes) noexcept {
    PROMTACT_ASSERT(at + bytes.size() <= out.size());
    if (!bytes.empty()) std::memcpy(out.data() + at, bytes.data(), bytes.size());
}

SnapshotId take_id(std::span<const std::byte> bytes, std::size_t at) noexcept {
    SnapshotId id{};
    PROMTACT_ASSERT(at + id.size() <= bytes.size());
    std::memcpy(id.data(), bytes.data() + at, id.size());
    return id;
}

bool chunk_size_allowed(std::uint32_t bytes) noexcept {
    return bytes >= snapshot_chunk_bytes_min && bytes % snapshot_block_bytes == 0;
}

Result<void> check_features(std::uint32_t incompat, const SnapshotLimits& limits) {
    const std::uint32_t unknown = incompat & ~limits.incompat_known;
    if (unknown == 0) return {};
    if ((unknown & snapshot_incompat_zstd) != 0) {
        return snapshot_error(
            Errc::unsupported, H::incompat, "incompat features",
            "the image is compressed with zstd and this build has none (libzstd-dev)");
    }
    return snapshot_error(
        Errc::unsupported, H::incompat, "incompat features",
        "bits " + number(unknown) + " are not known to this version");
}

Result<void> check_header_fields(std::span<const std::byte> header, const SnapshotLimits& limits) {
    PROMTACT_TRY(check_features(load_le<std::uint32_t>(header, H::incompat), limits));
    const auto chunk_bytes = load_le<std::uint32_t>(header, H::chunk_bytes);
    if (!chunk_size_allowed(chunk_bytes)) {
        return snapshot_error(
            Errc::corrupt, H::chunk_bytes, "chunk bytes",
            number(chunk_bytes) + " is not a multiple of 4096");
    }
    if (chunk_bytes > limits.chunk_bytes_max) {
        return snapshot_error(
            Errc::unsupported, H::chunk_bytes, "chunk bytes",
            number(chunk_bytes) + " is above the configured maximum of " +
                number(limits.chunk_bytes_max));
    }
    const auto metadata_bytes = load_le<std::uint32_t>(header, H::metadata_bytes);
    if (metadata_bytes > snapshot_metadata_bytes_max ||
        snapshot_header_bytes(metadata_bytes) != header.size()) {
        return snapshot_error(
            Errc::corrupt, H::metadata_bytes, "metadata bytes",
            number(metadata_bytes) + " does not go with a header of " + number(header.size()));
    }
    if (load_le<std::uint64_t>(header, H::reserved) != 0)
        return snapshot_error(Errc::corrupt, H::reserved, "reserved", "is not zero");
    const std::size_t end = snapshot_header_fixed_bytes + metadata_bytes;
    if (!all_zero(header.subspan(end)))
        return snapshot_error(Errc::corrupt, end, "header padding", "is not zero");
    return {};
}

} // namespace

SnapshotLimits::SnapshotLimits() noexcept
    : incompat_known(snapshot_zstd_available() ? snapshot_incompat_zstd : 0U) {}

std::uint32_t snapshot_header_bytes(std::size_t metadata_bytes) noexcept {
    PROMTACT_ASSERT(metadata_bytes <= snapshot_metadata_bytes_max);
    return round_to_block(snapshot_header_fixed_bytes + metadata_bytes);
}

std::uint32_t snapshot_frame_bytes(std::uint32_t stored_bytes) noexcept {
    return round_to_block(std::uint64_t{snapshot_chunk_header_bytes} + stored_bytes);
}

Result<void> check_snapshot_info(const SnapshotInfo& info) {
    const auto wrong = [](std::string what) {
        return Error{Errc::invalid_argument, 0, "snapshot: " + std::move(what)};
    };
    if (!chunk_size_allowed(info.chunk_bytes))
        return wrong("chunk_bytes " + number(info.chunk_bytes) + " is not a multiple of 4096");
    if (info.chunk_bytes > (1U << 30))
        return wrong("chunk_bytes " + number(info.chunk_bytes) + " is above 2^30");
    if (info.metadata.size() > snapshot_metadata_bytes_max) {
        return wrong(
            "metadata of " + number(info.metadata.size()) + " bytes is above " +
            number(snapshot_metadata_bytes_max));
    }
    if ((info.incompat & ~snapshot_incompat_zstd) != 0 || info.ro_compat != 0 || info.compat != 0)
        return wrong("a feature bit is set that this version does not write");
    if (info.incompat != 0 && !snapshot_zstd_available()) {
        return Error{
            Errc::unsupported, 0, "snapshot: this build has no zstd (libzstd-dev), store it plain"};
    }
    return {};
}

std::uint32_t encode_snapshot_header(const SnapshotInfo& info, std::span<std::byte> out) noexcept {
    PROMTACT_ASSERT(info.metadata.size() <= snapshot_metadata_bytes_max);
    PROMTACT_ASSERT(out.size() == snapshot_header_bytes(info.metadata.size()));
    std::memset(out.data(), 0, out.size());
    put(out, H::magic, bytes_of(header_magic));
    store_le<std::uint16_t>(out, H::major, snapshot_major);
    store_le<std::uint16_t>(out, H::minor, snapshot_minor);
    store_le<std::uint32_t>(out, H::header_bytes, static_cast<std::uint32_t>(out.size()));
    store_le<std::uint32_t>(
        out, H::metadata_bytes, static_cast<std::uint32_t>(info.metadata.size()));
    store_le<std::uint32_t>(out, H::incompat, info.incompat);
    store_le<std::uint32_t>(out, H::ro_compat, info.ro_compat);
    store_le<std::uint32_t>(out, H::compat, info.compat);
    store_le<std::uint32_t>(out, H::chunk_bytes, info.chunk_bytes);
    store_le<std::uint64_t>(out, H::generation, info.generation);
    store_le<std::uint64_t>(out, H::index, info.index);
    store_le<std::uint64_t>(out, H::term, info.term);
    put(out, H::cluster, info.cluster);
    put(out, H::log, info.log);
    put(out, H::image, info.image);
    store_le<std::uint64_t>(out, H::payload_bytes, info.payload_bytes);
    put(out, snapshot_header_fixed_bytes, info.metadata);
    const std::uint32_t crc = crc32c(out);
    store_le<std::uint32_t>(out, H::checksum, crc);
    PROMTACT_DEBUG_ASSERT(crc_around(0, out, H::checksum) == crc);
    return crc;
}

std::uint32_t seal_snapshot_chunk(
    const SnapshotChunk& chunk, std::uint32_t chain, std::span<std::byte> frame) noexcept {
    PROMTACT_ASSERT(chunk.payload_bytes > 0);
    PROMTACT_ASSERT(chunk.stored_bytes > 0);
    PROMTACT_ASSERT(chunk.stored_bytes <= chunk.payload_bytes);
    PROMTACT_ASSERT(frame.size() == snapshot_frame_bytes(chunk.stored_bytes));
    const std::size_t end = snapshot_chunk_header_bytes + std::size_t{chunk.stored_bytes};
    std::memset(frame.data() + end, 0, frame.size() - end);
    put(frame, C::magic, bytes_of(chunk_magic));
    store_le<std::uint32_t>(frame, C::checksum, 0);
    store_le<std::uint64_t>(frame, C::payload_offset, chunk.payload_offset);
    store_le<std::uint32_t>(frame, C::payload_bytes, chunk.payload_bytes);
    store_le<std::uint32_t>(frame, C::stored_bytes, chunk.stored_bytes);
    store_le<std::uint32_t>(frame, C::flags, chunk.flags);
    store_le<std::uint32_t>(frame, C::number, chunk.number);
    store_le<std::uint64_t>(frame, C::sum, content_sum(frame));
    const std::uint32_t crc = crc32c_extend(chain, frame.first(snapshot_chunk_header_bytes));
    store_le<std::uint32_t>(frame, C::checksum, crc);
    return crc;
}

void encode_snapshot_trailer(
    const SnapshotProgress& progress, std::uint64_t generation,
    std::span<std::byte, snapshot_block_bytes> out) noexcept {
    PROMTACT_ASSERT(progress.file_bytes % snapshot_block_bytes == 0);
    const std::span<std::byte> all = out;
    std::memset(all.data(), 0, all.size());
    put(all, T::magic, bytes_of(trailer_magic));
    store_le<std::uint64_t>(all, T::payload_bytes, progress.payload_bytes);
    store_le<std::uint64_t>(all, T::file_bytes, progress.file_bytes + snapshot_block_bytes);
    store_le<std::uint64_t>(all, T::chunks, progress.chunks);
    store_le<std::uint64_t>(all, T::generation, generation);
    store_le<std::uint32_t>(all, T::payload_checksum, progress.payload_crc);
    store_le<std::uint32_t>(all, T::checksum, crc32c_extend(progress.chain, all));
}

Result<std::uint32_t> peek_snapshot_header(std::span<const std::byte> first_block) {
    if (first_block.size() < snapshot_block_bytes) {
        return snapshot_error(
            Errc::corrupt, first_block.size(), "header", "the file ends inside it");
    }
    if (all_zero(first_block))
        return snapshot_error(Errc::corrupt, 0, "header", "its first block is all zero");
    if (!starts_with(first_block, header_magic))
        return snapshot_error(Errc::corrupt, H::magic, "magic", "does not start with PMTSNAP1");
    const auto bytes = load_le<std::uint32_t>(first_block, H::header_bytes);
    if (bytes < snapshot_block_bytes || bytes > snapshot_header_bytes_max ||
        bytes % snapshot_block_bytes != 0) {
        return snapshot_error(
            Errc::corrupt, H::header_bytes, "header bytes", number(bytes) + " is impossible");
    }
    return bytes;
}

Result<SnapshotInfo>
decode_snapshot_header(std::span<const std::byte> header, const SnapshotLimits& limits) {
    PROMTACT_TRY_ASSIGN(const auto bytes, peek_snapshot_header(header));
    if (header.size() != bytes) {
        return snapshot_error(
            Errc::corrupt, header.size(), "header", "the file ends inside its " + number(bytes));
    }
    const auto stored = load_le<std::uint32_t>(header, H::checksum);
    if (crc_around(0, header, H::checksum) != stored)
        return snapshot_error(Errc::corrupt, H::checksum, "header checksum", "does not match");
    if (const auto major = load_le<std::uint16_t>(header, H::major); major != snapshot_major) {
        return snapshot_error(
            Errc::format, H::major, "version", "major " + number(major) + " is not 1");
    }
    PROMTACT_TRY(check_header_fields(header, limits));
    SnapshotInfo info;
    info.generation = load_le<std::uint64_t>(header, H::generation);
    info.index = load_le<std::uint64_t>(header, H::index);
    info.term = load_le<std::uint64_t>(header, H::term);
    info.cluster = take_id(header, H::cluster);
    info.log = take_id(header, H::log);
    info.image = take_id(header, H::image);
    info.payload_bytes = load_le<std::uint64_t>(header, H::payload_bytes);
    info.chunk_bytes = load_le<std::uint32_t>(header, H::chunk_bytes);
    info.incompat = load_le<std::uint32_t>(header, H::incompat);
    info.ro_compat = load_le<std::uint32_t>(header, H::ro_compat);
    info.compat = load_le<std::uint32_t>(header, H::compat);
    const auto metadata = header.subspan(
        snapshot_header_fixed_bytes, load_le<std::uint32_t>(header, H::metadata_bytes));
    info.metadata.assign(metadata.begin(), metadata.end());
    return info;
}

bool is_snapshot_trailer(std::span<const std::byte> block) noexcept {
    return starts_with(block, trailer_magic);
}

Result<SnapshotChunk> peek_snapshot_chunk(
    const SnapshotInfo& info, const SnapshotProgress& progress, std::span<const std::byte> block) {
    PROMTACT_ASSERT(block.size() >= snapshot_block_bytes);
    const auto wrong = [&progress](std::size_t at, std::string_view field, std::string what) {
        return snapshot_error(
            Errc::corrupt, progress.file_bytes + at,
            "chunk " + number(progress.chunks) + " " + std::string(field), std::move(what));
    };
    if (!starts_with(block, chunk_magic)) {
        return wrong(
            C::magic, "magic",
            all_zero(block.first(snapshot_block_bytes)) ? "the block is all zero"
                                                        : "neither a chunk nor the trailer");
    }
    const SnapshotChunk chunk{
        .payload_offset = load_le<std::uint64_t>(block, C::payload_offset),
        .payload_bytes = load_le<std::uint32_t>(block, C::payload_bytes),
        .stored_bytes = load_le<std::uint32_t>(block, C::stored_bytes),
        .flags = load_le<std::uint32_t>(block, C::flags),
        .number = load_le<std::uint32_t>(block, C::number)};
    if (chunk.number != static_cast<std::uint32_t>(progress.chunks))
        return wrong(C::number, "number", number(chunk.number) + " stands here");
    if (chunk.payload_offset != progress.payload_bytes) {
        return wrong(
            C::payload_offset, "payload offset",
            number(chunk.payload_offset) + " where " + number(progress.payload_bytes) + " must be");
    }
    if (chunk.payload_bytes == 0 || chunk.payload_bytes > info.chunk_bytes) {
        return wrong(
            C::payload_bytes, "payload bytes",
            number(chunk.payload_bytes) + " is not within 1.." + number(info.chunk_bytes));
    }
    if (progress.payload_bytes % info.chunk_bytes != 0)
        return wrong(C::payload_offset, "payload offset", "follows a chunk that was the last");
    const bool compressed = chunk.flags == snapshot_chunk_zstd;
    if (chunk.flags != 0 && (!compressed || (info.incompat & snapshot_incompat_zstd) == 0))
        return wrong(C::flags, "flags", number(chunk.flags) + " is not announced by the header");
    if (chunk.stored_bytes == 0 || chunk.stored_bytes > chunk.payload_bytes ||
        (chunk.stored_bytes < chunk.payload_bytes) != compressed) {
        return wrong(
            C::stored_bytes, "stored bytes",
            number(chunk.stored_bytes) + " for a payload of " + number(chunk.payload_bytes));
    }
    return chunk;
}

Result<std::uint32_t> verify_snapshot_chunk(
    const SnapshotChunk& chunk, const SnapshotProgress& progress,
    std::span<const std::byte> frame) {
    PROMTACT_ASSERT(frame.size() == snapshot_frame_bytes(chunk.stored_bytes));
    const auto stored = load_le<std::uint32_t>(frame, C::checksum);
    const std::string name = "chunk " + number(progress.chunks);
    const auto header = frame.first(snapshot_chunk_header_bytes);
    if (crc_around(progress.chain, header, C::checksum) != stored) {
        return snapshot_error(
            Errc::corrupt, progress.file_bytes + C::checksum, name + " checksum",
            "does not match its header or what comes before it");
    }
    if (content_sum(frame) != load_le<std::uint64_t>(frame, C::sum)) {
        return snapshot_error(
            Errc::corrupt, progress.file_bytes + C::sum, name + " sum",
            "does not match its content");
    }
    const std::size_t end = snapshot_chunk_header_bytes + std::size_t{chunk.stored_bytes};
    if (!all_zero(frame.subspan(end))) {
        return snapshot_error(
            Errc::corrupt, progress.file_bytes + end, name + " padding", "is not zero");
    }
    return stored;
}

Result<void> verify_snapshot_trailer(
    const SnapshotInfo& info, const SnapshotProgress& progress, std::span<const std::byte> block) {
    PROMTACT_ASSERT(block.size() == snapshot_block_bytes);
    const auto wrong = [&progress](std::size_t at, std::string_view field, std::string what) {
        return snapshot_error(
            Errc::corrupt, progress.file_bytes + at, "trailer " + std::string(field),
            std::move(what));
    };
    if (crc_around(progress.chain, block, T::checksum) !=
        load_le<std::uint32_t>(block, T::checksum))
        return wrong(T::checksum, "checksum", "does not match its content or what comes before it");
    const auto differs = [&](std::size_t at, std::string_view field, std::uint64_t expected) {
        return wrong(
            at, field,
            number(load_le<std::uint64_t>(block, at)) + " where " + number(expected) + " must be");
    };
    if (load_le<std::uint64_t>(block, T::payload_bytes) != progress.payload_bytes)
        return differs(T::payload_bytes, "payload bytes", progress.payload_bytes);
    const std::uint64_t file_bytes = progress.file_bytes + snapshot_block_bytes;
    if (load_le<std::uint64_t>(block, T::file_bytes) != file_bytes)
        return differs(T::file_bytes, "file bytes", file_bytes);
    if (load_le<std::uint64_t>(block, T::chunks) != progress.chunks)
        return differs(T::chunks, "chunks", progress.chunks);
    if (load_le<std::uint64_t>(block, T::generation) != info.generation)
        return differs(T::generation, "generation", info.generation);
    if (load_le<std::uint32_t>(block, T::payload_checksum) != progress.payload_crc)
        return wrong(T::payload_checksum, "payload checksum", "does not match the payload read");
    if (load_le<std::uint32_t>(block, T::reserved) != 0 || !all_zero(block.subspan(T::rest)))
        return wrong(T::reserved, "reserved bytes", "are not zero");
    if (info.payload_bytes != snapshot_length_unknown &&
        info.payload_bytes != progress.payload_bytes) {
        return wrong(
            T::payload_bytes, "payload bytes",
            "the header promised " + number(info.payload_bytes) + ", there are " +
                number(progress.payload_bytes));
    }
    return {};
}

} // namespace promtact::wal
