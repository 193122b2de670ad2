// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One record per 4,096-byte block, the rest zero: what direct I/O can write in one piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <promtact/base/result.hpp>
#include <promtact/wal/record.hpp>

namespace promtact::wal {

inline constexpr std::size_t block_bytes = 4096;

/// Allocates nothing.
void encode_block(const Record& record, std::span<std::byte, block_bytes> out) noexcept;

enum class BlockState : std::uint8_t {
    intact,  // a record whose checksum holds and whose padding is zero
    zero,    // nothing was ever written here, or the write did not reach the disk
    damaged, // neither: a torn write or rot
    foreign, // the checksum holds, so it was written whole, yet we do not accept it
};

struct DecodedBlock {
    BlockState state = BlockState::zero;
    Record record{}; // when intact
    Error why{};     // when damaged or foreign
};

/// Judges one block. Every difference from what encode_block() writes is damage.
DecodedBlock
decode_block(std::span<const std::byte, block_bytes> block, DecodeMode mode = DecodeMode::strict);

} // namespace promtact::wal
