// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/block.hpp>

namespace promtact::wal {
namespace {

using Block = std::array<std::byte, block_bytes>;

Block make(std::uint64_t sequence) {
    Block block;
    block.fill(std::byte{0xff}); // encode_block must leave none of it
    encode_block({.sequence = sequence, .index = 5, .value = 0xffff'ffff'ffff'ffff}, block);
    return block;
}

TEST(WalBlock, RoundTripsAndPadsWithZeros) {
    const Block block = make(3);
    const DecodedBlock decoded = decode_block(block);
    EXPECT_EQ(decoded.state, BlockState::intact);
    EXPECT_EQ(decoded.record.sequence, 3U);
    for (std::size_t at = record_bytes; at < block_bytes; ++at)
        ASSERT_EQ(block[at], std::byte{0});
}

TEST(WalBlock, ZeroBlockIsEmptinessNotDamage) {
    EXPECT_EQ(decode_block(Block{}).state, BlockState::zero);
}

TEST(WalBlock, EveryDamagedRecordByteIsDamage) {
    for (std::size_t at = 0; at < record_bytes; ++at) {
        Block block = make(1);
        block[at] ^= std::byte{0x80};
        const DecodedBlock decoded = decode_block(block);
        EXPECT_EQ(decoded.state, BlockState::damaged) << at;
        EXPECT_FALSE(decoded.why.context.empty());
    }
}

TEST(WalBlock, EveryPaddingByteIsCheckedAndNamed) {
    for (std::size_t at = record_bytes; at < block_bytes; ++at) {
        Block block = make(1);
        block[at] = std::byte{1};
        const DecodedBlock decoded = decode_block(block);
        ASSERT_EQ(decoded.state, BlockState::foreign) << at;
        ASSERT_NE(
            decoded.why.context.find("padding byte " + std::to_string(at) + " "),
            std::string::npos);
    }
}

TEST(WalBlock, IntactRecordOfAnotherVersionIsForeignNotDamaged) {
    Block block = make(1);
    block[RecordLayout::version] = std::byte{9};
    const std::span<std::byte> head = std::span(block).first<record_bytes>();
    store_le<std::uint32_t>(
        head, RecordLayout::checksum, crc32c(head.first(RecordLayout::checksum)));

    const DecodedBlock decoded = decode_block(block);

    EXPECT_EQ(decoded.state, BlockState::foreign);
    EXPECT_EQ(decoded.why.code, Errc::format);
}

TEST(WalBlock, OnlyPaddingSetIsDamageNotEmptiness) {
    Block block{};
    block[4095] = std::byte{1};
    EXPECT_EQ(decode_block(block).state, BlockState::damaged);
}

} // namespace
} // namespace promtact::wal
