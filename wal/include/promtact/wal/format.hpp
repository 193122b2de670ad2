// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The bytes of a log of format 4: SUPER slots, segment headers and frame headers. wal/FORMAT.md
// Every decoder checks bounds before anything else and allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <promtact/wal/block.hpp>

namespace promtact::wal {

/// The number of a record in its log: 1 for the first, never reused. 0 means none.
using Lsn = std::uint64_t;
using LogUuid = std::array<std::byte, 16>;
/// Authenticates a frame and, through prev_chain, everything before it.
using Chain = std::uint64_t;

inline constexpr std::uint16_t format_major = 4;
inline constexpr std::uint16_t format_minor = 0;
inline constexpr std::uint32_t super_slots = 4;
/// Generations, segment ids and LSNs stay below: a log that writes one each nanosecond takes a
/// century to get there. What says more was not written by a log.
inline constexpr std::uint64_t counters_end = std::uint64_t{1} << 62;
/// The last LSN a record may have. The one behind it is reserved: a log that is full names it as
/// its next LSN, which stays below counters_end too, so that arithmetic never wraps.
inline constexpr Lsn lsn_last = counters_end - 2;
/// What to tell somebody whose LSN is beyond it.
std::string lsn_last_words();
inline constexpr std::uint32_t frame_header_bytes = 64;
inline constexpr std::uint32_t frame_blocks_max = 256;
inline constexpr std::uint32_t records_per_block = 36; // layout fixed
static_assert(frame_header_bytes + records_per_block * record_bytes == block_bytes);
inline constexpr std::uint64_t segment_bytes_min = 4 * block_bytes;
inline constexpr std::uint64_t segment_bytes_max = std::uint64_t{1} << 40;

/// Features by what a reader that does not know them may still do.
struct Features {
    std::uint32_t incompat = 0;  // unknown bit: nothing
    std::uint32_t ro_compat = 0; // unknown bit: read
    std::uint32_t compat = 0;    // unknown bit: everything
    friend bool operator==(const Features&, const Features&) = default;
};
inline constexpr Features known_features{};

enum class Layout : std::uint32_t {
    variable = 1, // records of any length, one frame per flush
    fixed = 2,    // 112-byte records, 36 to a block, every block a frame
};

/// A point in the log: the next LSN after everything before it, and the chain that vouches.
struct LogEnd {
    std::uint64_t segment = 0; // 0: none
    Lsn next_lsn = 1;
    Chain chain = 0;
    friend bool operator==(const LogEnd&, const LogEnd&) = default;
};

/// One slot of SUPER. Every fact in it is monotone, so an older slot is always safe to use.
struct Super {
    LogUuid uuid{};
    std::uint64_t generation = 0;
    std::uint64_t first_live_segment = 1;
    Lsn first_live_lsn = 1;
    std::uint64_t highest_opened = 0; // segment whose first record may have been acknowledged
    std::uint64_t segment_bytes = 0;
    Layout layout = Layout::variable;
    Features features{};
    LogEnd end{};       // the log was once known to reach here
    bool clean = false; // and was closed there
    friend bool operator==(const Super&, const Super&) = default;
};

/// How the segment before ended.
enum class PreviousEnd : std::uint32_t { none = 0, sealed = 1, repaired = 2 };

struct SegmentHeader {
    std::uint16_t major = format_major;
    std::uint16_t minor = format_minor;
    LogUuid uuid{};
    std::uint64_t segment = 0;
    std::uint64_t salt = 0; // random for every use of the file
    Lsn first_lsn = 1;
    LogEnd previous{};
    PreviousEnd previous_end = PreviousEnd::none;
    std::uint64_t segment_bytes = 0;
    std::uint32_t block_bytes = wal::block_bytes;
    Layout layout = Layout::variable;
    bool recycled = false; // blocks behind the log may hold frames of an earlier use
    Features features{};
    friend bool operator==(const SegmentHeader&, const SegmentHeader&) = default;
};

enum class FrameKind : std::uint32_t {
    data = 1,
    seal = 2,         // the segment ends here
    fence = 3,        // records below `a` are released, segments below `b` may be gone
    trunc_suffix = 4, // records above `a` and below this one's LSN are void; takes an LSN itself
    watermark = 5,    // only vouches for what was acknowledged before it
};
std::string_view to_string(FrameKind kind) noexcept;

struct FrameHeader {
    std::uint32_t crc = 0;
    Lsn first_lsn = 0;
    Chain prev_chain = 0;
    Lsn durable_lsn = 0; // highest acknowledged when the frame was closed
    std::uint32_t block_no = 0;
    std::uint32_t blocks = 0;
    std::uint32_t body_bytes = 0;
    std::uint32_t records = 0;
    std::uint32_t kind = 0;        // FrameKind; other values are features we do not know
    std::uint32_t table_bytes = 0; // layout fixed: the checksum of bytes 64..4095
    std::uint64_t salt = 0;
    Chain chain = 0; // not stored: crc << 32 | CRC32C of the table
};

/// Byte offsets within a slot of SUPER. Source: wal/FORMAT.md
struct SuperLayout {
    static constexpr std::size_t magic = 0, major = 8, minor = 10, crc = 12, uuid = 16,
                                 generation = 32, first_live_segment = 40, first_live_lsn = 48,
                                 highest_opened = 56, segment_bytes = 64, layout = 72,
                                 incompat = 76, ro_compat = 80, compat = 84, end_segment = 88,
                                 end_lsn = 96, end_chain = 104, clean = 112, end = 116;
};
/// Byte offsets within block 0 of a segment. Source: wal/FORMAT.md
struct SegmentLayout {
    static constexpr std::size_t magic = 0, major = 8, minor = 10, crc = 12, uuid = 16,
                                 segment = 32, salt = 40, first_lsn = 48, prev_segment = 56,
                                 prev_end_lsn = 64, prev_end_chain = 72, segment_bytes = 80,
                                 block_bytes = 88, incompat = 92, ro_compat = 96, compat = 100,
                                 layout = 104, prev_end_kind = 108, recycled = 112, end = 116;
};
/// Byte offsets within the header of a frame. Source: wal/FORMAT.md
struct FrameLayout {
    static constexpr std::size_t magic = 0, crc = 4, first_lsn = 8, prev_chain = 16,
                                 durable_lsn = 24, block_no = 32, blocks = 36, body_bytes = 40,
                                 records = 44, kind = 48, table_bytes = 52, salt = 56, table = 64;
};
// All fields lie in the first 512 bytes, so both blocks are written whole or not at all even where
// only 512 bytes are.
static_assert(SuperLayout::end <= 512);
static_assert(SegmentLayout::end <= 512);
static_assert(FrameLayout::table == frame_header_bytes);

enum class BlockContent : std::uint8_t {
    zero,    // nothing but zeros
    valid,   // ours, and its checksum holds
    damaged, // neither
};

/// True when there is nothing but zeros.
bool is_zero(std::span<const std::byte> bytes) noexcept;

/// One slot of SUPER, its checksum last. Allocates nothing.
void encode(const Super& super, std::span<std::byte, block_bytes> out) noexcept;
/// Fills `out` only when it says valid.
BlockContent decode(std::span<const std::byte, block_bytes> block, Super& out) noexcept;

/// The segment header of a later major version decodes as damaged: its checksum field may have
/// moved.
void encode(const SegmentHeader& header, std::span<std::byte, block_bytes> out) noexcept;
BlockContent decode(std::span<const std::byte, block_bytes> block, SegmentHeader& out) noexcept;

/// Whether a frame with a checksum that holds for its own salt starts in this block. Valid says
/// nothing about position, order, the other fields or the body: see check_frame().
BlockContent decode_frame(
    std::span<const std::byte, block_bytes> block, Layout layout, FrameHeader& out) noexcept;

/// What is impossible about a frame's fields, or nullptr. Requires: decode_frame said valid
const char*
check_frame_fields(const FrameHeader& header, Layout layout, std::uint64_t blocks_left) noexcept;

/// The checksum of a block or, of a frame's first block, of its body: the low 32 bits of XXH3-128.
/// Not CRC32C, for that is blind here: a record that ends in its own CRC32C, as those of 112 bytes
/// do, leaves the same remainder whatever it holds, and a torn block of such records would pass.
std::uint32_t block_checksum(std::span<const std::byte> bytes) noexcept;

/// Where the body starts.
constexpr std::size_t body_offset(const FrameHeader& header, Layout layout) noexcept {
    return frame_header_bytes + (layout == Layout::variable ? header.table_bytes : 0);
}

/// True when block `index` of the frame has the checksum that the frame's first block states.
/// Requires: fields checked; index < header.blocks
bool frame_block_matches(
    std::span<const std::byte> first_block, const FrameHeader& header, Layout layout,
    std::uint32_t index, std::span<const std::byte> block) noexcept;

/// What is wrong with the body of a frame whose blocks match, or nullptr: a walk of its records,
/// their checksums, the padding. Requires: fields checked; frame.size() == blocks * 4096
const char*
check_body(std::span<const std::byte> frame, const FrameHeader& header, Layout layout) noexcept;

/// "wal-" 16 hexadecimal digits ".seg", and the same ending in ".new" while it is being made.
std::string segment_name(std::uint64_t segment, bool unfinished = false);
/// The segment's number, or 0 when the name does not follow the grammar exactly or no log gets
/// there.
std::uint64_t parse_segment_name(std::string_view name, bool unfinished = false) noexcept;
inline constexpr std::string_view super_name = "SUPER";
inline constexpr std::string_view lock_name = "LOCK";

} // namespace promtact::wal
