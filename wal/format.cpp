// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/format.hpp>

namespace promtact::wal {
namespace {

constexpr std::string_view log_magic = "PMTWAL04";
constexpr std::string_view super_magic = "PMTSUP04";
using Block = std::span<const std::byte, block_bytes>;

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) noexcept {
    return text_of(bytes.first(magic.size())) == magic;
}

/// The CRC32C of a block with the four bytes at `field` taken as zero.
std::uint32_t crc_without(Block block, std::size_t field) noexcept {
    constexpr std::array<std::byte, 4> zero{};
    std::uint32_t crc = crc32c(block.first(field));
    crc = crc32c_extend(crc, zero);
    return crc32c_extend(crc, block.subspan(field + 4));
}

void store_features(std::span<std::byte> out, std::size_t at, const Features& features) noexcept {
    store_le<std::uint32_t>(out, at, features.incompat);
    store_le<std::uint32_t>(out, at + 4, features.ro_compat);
    store_le<std::uint32_t>(out, at + 8, features.compat);
}

Features load_features(std::span<const std::byte> block, std::size_t at) noexcept {
    return {
        .incompat = load_le<std::uint32_t>(block, at),
        .ro_compat = load_le<std::uint32_t>(block, at + 4),
        .compat = load_le<std::uint32_t>(block, at + 8)};
}

/// Zero, damaged, or worth decoding.
BlockContent judge(Block block, std::string_view magic, std::size_t crc_at) noexcept {
    if (!starts_with(block, magic)) {
        return is_zero(block) ? BlockContent::zero : BlockContent::damaged;
    }
    if (load_le<std::uint32_t>(block, crc_at) != crc_without(block, crc_at)) {
        return BlockContent::damaged;
    }
    return BlockContent::valid;
}

bool is_possible(const LogEnd& end) noexcept {
    return end.segment < counters_end && end.next_lsn < counters_end;
}

} // namespace

bool is_zero(std::span<const std::byte> bytes) noexcept {
    if (bytes.empty()) return true;
    if (bytes.front() != std::byte{0}) return false;
    return std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

void encode(const Super& super, std::span<std::byte, block_bytes> out) noexcept {
    using At = SuperLayout;
    PROMTACT_ASSERT(super.generation > 0);
    std::memset(out.data(), 0, out.size());
    std::memcpy(out.data(), super_magic.data(), super_magic.size());
    store_le<std::uint16_t>(out, At::major, format_major);
    store_le<std::uint16_t>(out, At::minor, format_minor);
    std::memcpy(out.data() + At::uuid, super.uuid.data(), super.uuid.size());
    store_le<std::uint64_t>(out, At::generation, super.generation);
    store_le<std::uint64_t>(out, At::first_live_segment, super.first_live_segment);
    store_le<std::uint64_t>(out, At::first_live_lsn, super.first_live_lsn);
    store_le<std::uint64_t>(out, At::highest_opened, super.highest_opened);
    store_le<std::uint64_t>(out, At::segment_bytes, super.segment_bytes);
    store_le<std::uint32_t>(out, At::layout, static_cast<std::uint32_t>(super.layout));
    store_features(out, At::incompat, super.features);
    store_le<std::uint64_t>(out, At::end_segment, super.end.segment);
    store_le<std::uint64_t>(out, At::end_lsn, super.end.next_lsn);
    store_le<std::uint64_t>(out, At::end_chain, super.end.chain);
    store_le<std::uint32_t>(out, At::clean, super.clean ? 1 : 0);
    store_le<std::uint32_t>(out, At::crc, crc_without(out, At::crc));
}

BlockContent decode(Block block, Super& out) noexcept {
    using At = SuperLayout;
    const BlockContent content = judge(block, super_magic, At::crc);
    if (content != BlockContent::valid) return content;
    if (load_le<std::uint16_t>(block, At::major) != format_major) return BlockContent::damaged;
    std::memcpy(out.uuid.data(), block.data() + At::uuid, out.uuid.size());
    out.generation = load_le<std::uint64_t>(block, At::generation);
    out.first_live_segment = load_le<std::uint64_t>(block, At::first_live_segment);
    out.first_live_lsn = load_le<std::uint64_t>(block, At::first_live_lsn);
    out.highest_opened = load_le<std::uint64_t>(block, At::highest_opened);
    out.segment_bytes = load_le<std::uint64_t>(block, At::segment_bytes);
    out.layout = Layout{load_le<std::uint32_t>(block, At::layout)};
    out.features = load_features(block, At::incompat);
    out.end.segment = load_le<std::uint64_t>(block, At::end_segment);
    out.end.next_lsn = load_le<std::uint64_t>(block, At::end_lsn);
    out.end.chain = load_le<std::uint64_t>(block, At::end_chain);
    out.clean = load_le<std::uint32_t>(block, At::clean) != 0;
    const bool possible = out.generation < counters_end && out.first_live_segment < counters_end &&
                          out.first_live_lsn < counters_end && out.highest_opened < counters_end &&
                          is_possible(out.end);
    return possible ? BlockContent::valid : BlockContent::damaged;
}

void encode(const SegmentHeader& header, std::span<std::byte, block_bytes> out) noexcept {
    using At = SegmentLayout;
    PROMTACT_ASSERT(header.segment > 0);
    PROMTACT_ASSERT(header.first_lsn == header.previous.next_lsn);
    std::memset(out.data(), 0, out.size());
    std::memcpy(out.data(), log_magic.data(), log_magic.size());
    store_le<std::uint16_t>(out, At::major, header.major);
    store_le<std::uint16_t>(out, At::minor, header.minor);
    std::memcpy(out.data() + At::uuid, header.uuid.data(), header.uuid.size());
    store_le<std::uint64_t>(out, At::segment, header.segment);
    store_le<std::uint64_t>(out, At::salt, header.salt);
    store_le<std::uint64_t>(out, At::first_lsn, header.first_lsn);
    store_le<std::uint64_t>(out, At::prev_segment, header.previous.segment);
    store_le<std::uint64_t>(out, At::prev_end_lsn, header.previous.next_lsn);
    store_le<std::uint64_t>(out, At::prev_end_chain, header.previous.chain);
    store_le<std::uint64_t>(out, At::segment_bytes, header.segment_bytes);
    store_le<std::uint32_t>(out, At::block_bytes, header.block_bytes);
    store_features(out, At::incompat, header.features);
    store_le<std::uint32_t>(out, At::layout, static_cast<std::uint32_t>(header.layout));
    store_le<std::uint32_t>(
        out, At::prev_end_kind, static_cast<std::uint32_t>(header.previous_end));
    store_le<std::uint32_t>(out, At::recycled, header.recycled ? 1 : 0);
    store_le<std::uint32_t>(out, At::crc, crc_without(out, At::crc));
}

BlockContent decode(Block block, SegmentHeader& out) noexcept {
    using At = SegmentLayout;
    const BlockContent content = judge(block, log_magic, At::crc);
    if (content != BlockContent::valid) return content;
    out.major = load_le<std::uint16_t>(block, At::major);
    out.minor = load_le<std::uint16_t>(block, At::minor);
    std::memcpy(out.uuid.data(), block.data() + At::uuid, out.uuid.size());
    out.segment = load_le<std::uint64_t>(block, At::segment);
    out.salt = load_le<std::uint64_t>(block, At::salt);
    out.first_lsn = load_le<std::uint64_t>(block, At::first_lsn);
    out.previous.segment = load_le<std::uint64_t>(block, At::prev_segment);
    out.previous.next_lsn = load_le<std::uint64_t>(block, At::prev_end_lsn);
    out.previous.chain = load_le<std::uint64_t>(block, At::prev_end_chain);
    out.segment_bytes = load_le<std::uint64_t>(block, At::segment_bytes);
    out.block_bytes = load_le<std::uint32_t>(block, At::block_bytes);
    out.features = load_features(block, At::incompat);
    out.layout = Layout{load_le<std::uint32_t>(block, At::layout)};
    out.previous_end = PreviousEnd{load_le<std::uint32_t>(block, At::prev_end_kind)};
    out.recycled = load_le<std::uint32_t>(block, At::recycled) != 0;
    const bool possible =
        out.segment < counters_end && out.first_lsn < counters_end && is_possible(out.previous);
    return possible ? BlockContent::valid : BlockContent::damaged;
}

std::string lsn_last_words() {
    return "the last LSN of a log is " + std::to_string(lsn_last) +
           "; begin a new log at a lower one";
}

std::string segment_name(std::uint64_t segment, bool unfinished) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name = "wal-0000000000000000";
    for (std::size_t i = 0; i < 16; ++i)
        name[4 + i] = digits[(segment >> (60 - 4 * i)) & 0xfU];
    return name + (unfinished ? ".new" : ".seg");
}

std::uint64_t parse_segment_name(std::string_view name, bool unfinished) noexcept {
    if (name.size() != 24 || name.substr(0, 4) != "wal-") return 0;
    if (name.substr(20) != (unfinished ? ".new" : ".seg")) return 0;
    std::uint64_t segment = 0;
    for (const char c : name.substr(4, 16)) {
        const bool decimal = c >= '0' && c <= '9';
        if (!decimal && (c < 'a' || c > 'f')) return 0;
        segment = segment << 4 | static_cast<std::uint64_t>(decimal ? c - '0' : c - 'a' + 10);
    }
    return segment < counters_end ? segment : 0;
}

} // namespace promtact::wal
