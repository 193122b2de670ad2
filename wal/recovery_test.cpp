// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/wal/recovery.hpp>

namespace promtact::wal {
namespace {

using Block = std::array<std::byte, block_bytes>;

class Image {
  public:
    explicit Image(std::uint64_t records) {
        for (std::uint64_t i = 1; i <= records; ++i)
            add(i);
    }
    void add(std::uint64_t sequence) {
        Block block{};
        encode_block({.sequence = sequence, .index = sequence * 10, .key = ~sequence}, block);
        blocks.push_back(block);
    }
    void add_zero(std::size_t count = 1) { blocks.resize(blocks.size() + count, Block{}); }
    void damage(std::size_t block, std::size_t at = 50) { blocks[block][at] ^= std::byte{0x10}; }

    std::vector<Block> blocks;
};

struct Outcome {
    std::optional<Error> error{};
    Recovery recovery{};
    std::vector<std::uint64_t> sequences{};
};

Outcome recover(const Image& image, std::size_t incomplete = 0, std::uint32_t window = 1) {
    Outcome outcome;
    RecoveryScan scan(DecodeMode::strict, window);
    for (const Block& block : image.blocks) {
        auto record = scan.feed(block);
        if (!record) {
            outcome.error = record.error();
            return outcome;
        }
        if (*record) outcome.sequences.push_back((*record)->sequence);
    }
    if (incomplete > 0) scan.feed_incomplete(incomplete);
    outcome.recovery = scan.finish();
    return outcome;
}

TEST(WalRecovery, EmptyAndCompleteLogsAreClean) {
    for (const std::uint64_t records : {0U, 1U, 7U}) {
        const Outcome outcome = recover(Image(records));
        ASSERT_FALSE(outcome.error);
        EXPECT_EQ(outcome.recovery.tail, Tail::clean);
        EXPECT_EQ(outcome.recovery.records, records);
        EXPECT_EQ(outcome.recovery.valid_bytes, records * 4096);
        EXPECT_EQ(outcome.sequences.size(), records);
    }
}

TEST(WalRecovery, EveryTornRecordCutRecoversOnlyVerifiedPrefix) {
    const Block whole = Image(3).blocks[2];
    for (std::size_t cut = 0; cut < record_bytes; ++cut) {
        Image image(3); // the last block holds only the first `cut` bytes of its record
        std::fill(
            image.blocks[2].begin() + static_cast<std::ptrdiff_t>(cut), image.blocks[2].end(),
            std::byte{0});
        ASSERT_NE(image.blocks[2], whole);

        const Outcome outcome = recover(image);

        ASSERT_FALSE(outcome.error) << cut;
        EXPECT_EQ(outcome.recovery.records, 2U) << cut;
        EXPECT_EQ(outcome.recovery.tail, cut == 0 ? Tail::zeros : Tail::torn) << cut;
    }
}

TEST(WalRecovery, EveryIncompleteLastBlockIsATornTail) {
    for (const std::size_t bytes : {1U, 111U, 112U, 511U, 512U, 4095U}) {
        const Outcome outcome = recover(Image(2), bytes);
        ASSERT_FALSE(outcome.error);
        EXPECT_EQ(outcome.recovery.records, 2U);
        EXPECT_EQ(outcome.recovery.tail, Tail::torn);
        EXPECT_EQ(outcome.recovery.torn_block, 2U);
        EXPECT_EQ(outcome.recovery.file_bytes, 2U * 4096U + bytes);
    }
}

TEST(WalRecovery, AnyNumberOfUnreadableBlocksAtTheEndIsATornTail) {
    Image image(3);
    image.damage(2);
    image.add_zero(2);
    image.add(6);
    image.damage(5);

    const Outcome outcome = recover(image);

    ASSERT_FALSE(outcome.error);
    EXPECT_EQ(outcome.recovery.records, 2U);
    EXPECT_EQ(outcome.recovery.tail, Tail::torn);
    EXPECT_EQ(outcome.recovery.torn_block, 2U);
}

TEST(WalRecovery, PreallocatedZerosAreNotATear) {
    Image image(2);
    image.add_zero(5);

    const Outcome outcome = recover(image);

    EXPECT_EQ(outcome.recovery.tail, Tail::zeros);
    EXPECT_EQ(outcome.recovery.valid_bytes, 8192U);
    EXPECT_FALSE(outcome.recovery.torn_block);
}

TEST(WalRecovery, DamageInFrontOfAnIntactRecordIsRefusedNamingBothBlocks) {
    for (std::size_t damaged = 0; damaged < 4; ++damaged) {
        for (const bool zeroed : {false, true}) {
            Image image(5);
            if (zeroed) {
                image.blocks[damaged] = Block{};
            } else {
                image.damage(damaged);
            }

            const Outcome outcome = recover(image);

            ASSERT_TRUE(outcome.error);
            EXPECT_EQ(outcome.error->code, Errc::corrupt);
            EXPECT_NE(
                outcome.error->context.find("block " + std::to_string(damaged) + " is damaged"),
                std::string::npos)
                << outcome.error->context;
        }
    }
}

TEST(WalRecovery, SequenceGapIsRejected) {
    Image gap(2);
    gap.add(4);
    Image repeated(2);
    repeated.add(2);
    Image late_start(0);
    late_start.add(2);
    Image zero_sequence(0);
    zero_sequence.add(0);
    for (const Image* image : {&gap, &repeated, &late_start, &zero_sequence}) {
        const Outcome outcome = recover(*image);
        ASSERT_TRUE(outcome.error);
        EXPECT_EQ(outcome.error->code, Errc::corrupt);
        EXPECT_NE(outcome.error->context.find("holds sequence"), std::string::npos);
    }
}

TEST(WalRecovery, SwappedBlocksAreRejected) {
    Image image(4);
    std::swap(image.blocks[1], image.blocks[2]);
    EXPECT_TRUE(recover(image).error);
}

TEST(WalRecovery, RecordsOfOneUnflushedBatchMayArriveInAnyOrder) {
    // Four records were in flight behind two acknowledged ones; any subset reached the disk.
    for (std::uint32_t subset = 0; subset < 16; ++subset) {
        Image image(6);
        std::uint64_t prefix = 2;
        bool whole = true;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const bool arrived = (subset >> i & 1U) != 0;
            if (!arrived) image.blocks[2 + i] = Block{};
            whole = whole && arrived;
            if (whole) prefix = 3 + i;
        }

        const Outcome outcome = recover(image, 0, 4);

        ASSERT_FALSE(outcome.error) << subset;
        EXPECT_EQ(outcome.recovery.records, prefix) << subset;
    }
}

TEST(WalRecovery, BatchWindowStillRefusesOlderDamage) {
    Image image(6);
    image.damage(1);
    EXPECT_TRUE(recover(image, 0, 4).error);
    EXPECT_FALSE(recover(image, 0, 5).error);
    EXPECT_TRUE(recover(image, 0, 1).error);
}

TEST(WalRecovery, ForeignBlockIsNeverATornTail) {
    Image image(2);
    image.blocks[1][4000] = std::byte{1};

    const Outcome outcome = recover(image);

    ASSERT_TRUE(outcome.error);
    EXPECT_NE(outcome.error->context.find("block 1: padding byte 4000"), std::string::npos);
}

} // namespace
} // namespace promtact::wal
