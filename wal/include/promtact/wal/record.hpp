// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The 112-byte record: the unit of the log, little-endian, closed by a CRC32C. wal/FORMAT_3.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <promtact/base/result.hpp>

namespace promtact::wal {

inline constexpr std::size_t record_bytes = 112;
inline constexpr std::uint16_t record_version = 3;
using RecordBytes = std::array<std::byte, record_bytes>;

/// One log record. What index, kind and the other fields mean is the owner's business; the log only
/// knows sequence. kind and operation have 16 bits on disk but hold 8, so that encoding cannot
/// produce what decoding would cut off.
struct Record {
    std::uint64_t sequence = 0;
    std::uint64_t index = 0;
    std::uint64_t term = 0;
    std::uint64_t command = 0;
    std::uint8_t kind = 0;
    std::uint64_t old_voters = 0;
    std::uint64_t new_voters = 0;
    std::uint8_t operation = 0;
    std::uint64_t client_id = 0;
    std::uint64_t request_id = 0;
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    friend bool operator==(const Record&, const Record&) = default;
};

/// Byte offsets of the fields. Everything between them is reserved and written as zero.
struct RecordLayout {
    static constexpr std::size_t magic = 0;
    static constexpr std::size_t version = 8;
    static constexpr std::size_t flags = 10;
    static constexpr std::size_t sequence = 12;
    static constexpr std::size_t index = 20;
    static constexpr std::size_t term = 28;
    static constexpr std::size_t command = 36;
    static constexpr std::size_t kind = 44;
    static constexpr std::size_t old_voters = 52;
    static constexpr std::size_t new_voters = 60;
    static constexpr std::size_t operation = 68;
    static constexpr std::size_t client_id = 72;
    static constexpr std::size_t request_id = 80;
    static constexpr std::size_t key = 88;
    static constexpr std::size_t value = 96;
    static constexpr std::size_t checksum = 108;
};

enum class DecodeMode : std::uint8_t {
    strict,    // flags and reserved bytes must be zero, kind and operation must fit 8 bits
    reference, // as the Go reference: ignores them and cuts kind and operation to 8 bits
};

/// Shape: 112 bytes little-endian, wal/FORMAT_3.md. Allocates nothing.
void encode(const Record& record, std::span<std::byte, record_bytes> out) noexcept;

/// Errors: format (length is not 112, magic, version; in strict mode also reserved bytes, flags and
/// fields wider than 8 bits of an otherwise intact record); corrupt (checksum).
Result<Record> decode(std::span<const std::byte> bytes, DecodeMode mode = DecodeMode::strict);

/// True when the last four bytes are the CRC32C of the rest: these 112 bytes were written whole.
/// Requires: bytes.size() == record_bytes
bool checksum_matches(std::span<const std::byte> bytes) noexcept;

/// Whether a file that begins so may be one of records: with the magic, the part of it that the
/// file is long enough for, or with zeros that a crash left in its place.
bool may_begin_record(std::span<const std::byte> bytes) noexcept;

} // namespace promtact::wal
