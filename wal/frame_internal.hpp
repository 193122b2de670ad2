// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the frame encoder and decoder share: the table's size and the checksums.
#pragma once

#include <array>
#include <cstring>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/frame.hpp>

namespace promtact::wal {

using At = FrameLayout;                                  // of every file that includes this
inline constexpr std::uint32_t frame_magic = 0x4d524650; // "PFRM"
inline constexpr std::uint32_t control_body_bytes = 16;

// The table has one of three sizes, so that records need not be moved for every block a frame grows
// by. It always fits in the first block.
struct Tier {
    std::uint32_t blocks;
    std::uint32_t table_bytes;
};
inline constexpr std::array tiers{Tier{16, 64}, Tier{64, 256}, Tier{frame_blocks_max, 1024}};
static_assert(frame_header_bytes + tiers.back().table_bytes < block_bytes);

inline std::uint32_t table_bytes_for(std::uint32_t blocks) noexcept {
    for (const Tier& tier : tiers)
        if (blocks <= tier.blocks) return tier.table_bytes;
    return 0;
}

inline std::uint32_t seeded(std::uint64_t seed, std::span<const std::byte> bytes) noexcept {
    std::array<std::byte, 8> prefix{};
    store_le<std::uint64_t>(prefix, 0, seed);
    return crc32c_extend(crc32c(prefix), bytes);
}

inline std::uint32_t
record_crc(Lsn lsn, std::span<const std::byte> header, std::span<const std::byte> body) noexcept {
    // Length, type and flags before the checksum field, the schema and the payload after it. In few
    // pieces: a call costs as much as many bytes.
    std::array<std::byte, 20> head{};
    store_le<std::uint64_t>(head, 0, lsn);
    std::memcpy(head.data() + 8, header.data(), 8);
    std::memcpy(head.data() + 16, header.data() + 12, 4);
    return crc32c_extend(crc32c(head), body);
}

inline std::size_t header_end(const FrameHeader& header, Layout layout) noexcept {
    return body_offset(header, layout);
}

inline Chain chain_of(
    std::uint32_t crc, std::span<const std::byte> block, const FrameHeader& header,
    Layout layout) noexcept {
    const std::uint32_t table = layout == Layout::variable
                                    ? crc32c(block.subspan(At::table, header.table_bytes))
                                    : header.table_bytes;
    return std::uint64_t{crc} << 32 | table;
}

} // namespace promtact::wal
