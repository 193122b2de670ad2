// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/frame.hpp>

#include "test_paths.hpp"

namespace promtact::wal {
namespace {

using Block = std::array<std::byte, block_bytes>;

std::string hex_rows(std::span<const std::byte> bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        char two[8];
        if (i % 16 == 0) {
            std::snprintf(two, sizeof two, "%04zx ", i);
            text += two;
        }
        std::snprintf(two, sizeof two, " %02x", std::to_integer<unsigned>(bytes[i]));
        text += two;
        if (i % 16 == 15) text += '\n';
    }
    return text;
}

/// The frame of the worked example: segment salt 0x1122334455667788, LSN 5, "hello".
Block example_frame() {
    Block block{};
    FrameBuilder builder;
    builder.start(block, Layout::variable, 5);
    const bool fits = builder.append(bytes_of("hello"), {.type = 2, .schema = 7});
    PROMTACT_ASSERT(fits);
    const auto closed = builder.finish(
        {.salt = 0x1122334455667788,
         .prev_chain = 0x0102030405060708,
         .durable_lsn = 4,
         .block_no = 9});
    PROMTACT_ASSERT(closed.blocks == 1);
    return block;
}

TEST(WalFormat, TheWorkedExampleOfTheDocumentIsWhatTheEncoderWrites) {
    const Block block = example_frame();
    std::ifstream file(test_source_path("wal/FORMAT.md"));
    std::stringstream document;
    document << file.rdbuf();

    const std::string rows = hex_rows(std::span(block).first(160));

    EXPECT_NE(document.str().find(rows), std::string::npos) << rows;
}

TEST(WalFormat, EveryFlippedBitOfASegmentHeaderAndASuperSlotIsRefused) {
    Block header{};
    encode(
        SegmentHeader{.segment = 3, .salt = 9, .segment_bytes = 65536},
        std::span<std::byte, block_bytes>(header));
    Block super{};
    encode(
        Super{.generation = 5, .segment_bytes = 65536}, std::span<std::byte, block_bytes>(super));
    for (std::size_t bit = 0; bit < 8 * block_bytes; bit += 3) {
        for (Block* block : {&header, &super})
            (*block)[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        SegmentHeader decoded;
        Super slot;
        EXPECT_EQ(decode(header, decoded), BlockContent::damaged) << bit;
        EXPECT_EQ(decode(super, slot), BlockContent::damaged) << bit;
        for (Block* block : {&header, &super})
            (*block)[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
    SegmentHeader decoded;
    EXPECT_EQ(decode(header, decoded), BlockContent::valid);
    EXPECT_EQ(decoded.segment, 3U);
}

TEST(WalFormat, EveryFlippedBitOfAFrameIsSeen) {
    Block block = example_frame();
    for (std::size_t bit = 0; bit < 8 * block_bytes; ++bit) {
        block[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        FrameHeader frame;
        const bool stands = decode_frame(block, Layout::variable, frame) == BlockContent::valid &&
                            check_frame_fields(frame, Layout::variable, 100) == nullptr &&
                            frame_block_matches(block, frame, Layout::variable, 0, block) &&
                            check_body(block, frame, Layout::variable) == nullptr;
        EXPECT_FALSE(stands) << bit;
        block[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
}

TEST(WalFormat, ABlockOfOtherIntactRecordsIsNotThisBlock) {
    // CRC32C cannot tell them apart: each record ends in its own.
    std::array<RecordBytes, 2> records{};
    encode({.sequence = 1, .value = 10}, records[0]);
    encode({.sequence = 99, .value = 20}, records[1]);
    ASSERT_EQ(crc32c(records[0]), crc32c(records[1]));

    EXPECT_NE(block_checksum(records[0]), block_checksum(records[1]));
}

TEST(WalFormat, AChecksumOfZeroIsLikeAnyOther) { // A16, case 41
    // CRC32C is affine in four bytes that nothing else depends on: solve for zero.
    Block block = example_frame();
    const auto crc_with = [&](std::uint32_t steering) {
        store_le<std::uint32_t>(block, FrameLayout::prev_chain, steering);
        std::array<std::byte, 8> salt{};
        store_le<std::uint64_t>(salt, 0, load_le<std::uint64_t>(block, FrameLayout::salt));
        return crc32c_extend(crc32c(salt), std::span(block).subspan(8, 120));
    };
    const std::uint32_t base = crc_with(0);
    std::array<std::pair<std::uint32_t, std::uint32_t>, 32> basis{};
    for (unsigned bit = 0; bit < 32; ++bit) {
        std::uint32_t image = crc_with(1U << bit) ^ base;
        std::uint32_t source = 1U << bit;
        for (unsigned row = 32; row-- > 0 && image != 0;) {
            if ((image >> row & 1U) == 0) continue;
            if (basis[row].first == 0) {
                basis[row] = {image, source};
                break;
            }
            image ^= basis[row].first;
            source ^= basis[row].second;
        }
    }
    std::uint32_t rest = base;
    std::uint32_t steering = 0;
    for (unsigned row = 32; row-- > 0;) {
        if ((rest >> row & 1U) == 0) continue;
        rest ^= basis[row].first;
        steering ^= basis[row].second;
    }
    ASSERT_EQ(crc_with(steering), 0U);
    store_le<std::uint32_t>(block, FrameLayout::crc, 0);

    FrameHeader frame;
    EXPECT_EQ(decode_frame(block, Layout::variable, frame), BlockContent::valid);
    EXPECT_EQ(frame.crc, 0U);
}

TEST(WalFormat, NoFieldMakesADecoderReadOutsideTheBlock) {
    // Every field of a frame header with every kind of wild value, its checksum made to hold.
    for (const Layout layout : {Layout::variable, Layout::fixed}) {
        for (std::size_t at = 8; at < 64; at += 4) {
            for (const std::uint32_t value : {0U, 1U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
                Block block = example_frame();
                store_le<std::uint32_t>(block, at, value);
                FrameHeader frame;
                if (decode_frame(block, layout, frame) != BlockContent::valid) continue;
                if (check_frame_fields(frame, layout, 1) != nullptr) continue;
                EXPECT_EQ(frame.blocks, 1U);
                EXPECT_LE(body_offset(frame, layout) + frame.body_bytes, block_bytes);
            }
        }
    }
}

Block example_super() {
    Block block{};
    encode(Super{.generation = 9, .first_live_segment = 1, .highest_opened = 3}, block);
    return block;
}
Block example_header() {
    Block block{};
    encode(SegmentHeader{.segment = 3, .first_lsn = 5, .previous = {.next_lsn = 5}}, block);
    return block;
}

/// The block says so in a field, and its checksum holds.
template <class Layout>
Block with_field(Block block, std::size_t at, std::uint64_t value) {
    store_le<std::uint64_t>(block, at, value);
    store_le<std::uint32_t>(block, Layout::crc, 0);
    store_le<std::uint32_t>(block, Layout::crc, crc32c(block));
    return block;
}

// Found by fuzzing: a slot of the last generation there is was taken, and the next one was 0.
TEST(WalFormat, ACounterThatNoLogReachesIsDamage) {
    using L = SuperLayout;
    for (const std::size_t at :
         {L::generation, L::first_live_segment, L::first_live_lsn, L::highest_opened,
          L::end_segment, L::end_lsn}) {
        Super super;
        EXPECT_EQ(
            decode(with_field<L>(example_super(), at, counters_end - 1), super),
            BlockContent::valid);
        for (const std::uint64_t value : {counters_end, ~std::uint64_t{0}}) {
            EXPECT_EQ(
                decode(with_field<L>(example_super(), at, value), super), BlockContent::damaged);
        }
    }
    using H = SegmentLayout;
    for (const std::size_t at : {H::segment, H::first_lsn, H::prev_segment, H::prev_end_lsn}) {
        SegmentHeader header;
        EXPECT_EQ(
            decode(with_field<H>(example_header(), at, counters_end - 1), header),
            BlockContent::valid);
        EXPECT_EQ(
            decode(with_field<H>(example_header(), at, ~std::uint64_t{0}), header),
            BlockContent::damaged);
    }
    EXPECT_EQ(parse_segment_name("wal-ffffffffffffffff.seg"), 0U);
    EXPECT_EQ(parse_segment_name("wal-3fffffffffffffff.seg"), counters_end - 1);
}

TEST(WalFormat, NamesFollowTheGrammarExactly) {
    EXPECT_EQ(segment_name(0x1a), "wal-000000000000001a.seg");
    EXPECT_EQ(parse_segment_name("wal-000000000000001a.seg"), 0x1aU);
    for (const char* name :
         {"wal-000000000000001A.seg", "wal-1a.seg", "wal-000000000000001a.seg.bak",
          "wal-000000000000001a.new", "wal-0000000000000000.seg", "wal-000000000000001g.seg", ""})
        EXPECT_EQ(parse_segment_name(name), 0U) << name;
    EXPECT_EQ(parse_segment_name("wal-000000000000001a.new", true), 0x1aU);
}

/// Fills a frame with as many records of a size as go in, at most 40, and reads it back.
void expect_round_trip(FrameBuilder& builder, std::span<std::byte> buffer, std::size_t size) {
    SCOPED_TRACE(size);
    builder.start(buffer, Layout::variable, 1);
    std::vector<std::byte> payload(size, static_cast<std::byte>(size));
    Lsn count = 0;
    while (count < 40 && builder.append(payload, {}))
        ++count;
    ASSERT_GT(count, 0U);
    const auto closed = builder.finish({.salt = 3});
    const auto frame = buffer.first(std::size_t{closed.blocks} * block_bytes);
    FrameHeader header;
    ASSERT_EQ(
        decode_frame(frame.first<block_bytes>(), Layout::variable, header), BlockContent::valid);
    ASSERT_EQ(check_frame_fields(header, Layout::variable, closed.blocks), nullptr);
    ASSERT_EQ(check_body(frame, header, Layout::variable), nullptr);
    RecordCursor cursor(frame, header, Layout::variable);
    RecordView record;
    while (cursor.next(record)) {
        ASSERT_TRUE(std::ranges::equal(record.payload, payload));
        --count;
    }
    EXPECT_EQ(count, 0U);
}

TEST(WalFormat, RecordsOfEverySizeComeBackAsTheyWere) {
    std::vector<std::byte> buffer(std::size_t{frame_blocks_max} * block_bytes);
    for (std::size_t size = 0; size < 300'000; size = size * 5 / 4 + 7) {
        FrameBuilder builder;
        expect_round_trip(builder, buffer, size);
    }
}

TEST(WalFormat, FramesOfEverySizeFollowEachOther) {
    std::vector<std::byte> buffer(std::size_t{frame_blocks_max} * block_bytes);
    FrameBuilder builder;
    for (const std::size_t before : {10U, 1600U, 2000U, 20'000U}) {
        for (const std::size_t after : {0U, 10U, 1600U, 3900U, 20'000U}) {
            expect_round_trip(builder, buffer, before);
            expect_round_trip(builder, buffer, after);
            // Where just one block is left, which the body must share with no larger table.
            expect_round_trip(builder, buffer, before);
            if (after < 3950)
                expect_round_trip(builder, std::span(buffer).first(block_bytes), after);
        }
    }
}

} // namespace
} // namespace promtact::wal
