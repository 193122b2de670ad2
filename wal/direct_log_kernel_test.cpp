// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The direct log on a real file: written, reopened, torn, damaged.
#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "direct_log_fixture_internal.hpp"

namespace promtact::wal {
namespace {

using uring::WriteMode;

constexpr WriteMode durable_modes[] = {
    WriteMode::separate, WriteMode::linked, WriteMode::dsync, WriteMode::inline_fdatasync};

TEST_F(DirectLogTest, WALReopenThroughIOUring) {
    for (const WriteMode mode : durable_modes) {
        for (const std::uint32_t batch : {1U, 7U}) {
            SCOPED_TRACE(std::string(to_string(mode)) + " batch " + std::to_string(batch));
            const DirectLogOptions options{.mode = mode, .batch = batch};
            write(20, options);
            expect_records(20, options);

            auto log = DirectLog::open(path, options);
            ASSERT_TRUE(log) << describe(log.error());
            EXPECT_EQ(log->recovery().records, 20U);
            EXPECT_EQ(log->recovery().tail, Tail::clean);
            EXPECT_EQ(*log->append(make(21)), 21U);
            ASSERT_TRUE(log->close());

            expect_records(21, options);
            std::filesystem::remove(path);
        }
    }
}

TEST_F(DirectLogTest, BytesOnDiskAreTheFormatAndNothingElse) {
    write(3);
    const std::vector<char> bytes = image();
    ASSERT_EQ(bytes.size(), 3U * 4096U);
    for (std::uint64_t n = 1; n <= 3; ++n) {
        Record record = make(n);
        record.sequence = n;
        std::array<std::byte, block_bytes> block{};
        encode_block(record, block);
        EXPECT_EQ(std::memcmp(bytes.data() + (n - 1) * 4096, block.data(), 4096), 0);
    }
}

TEST_F(DirectLogTest, AppendIsNotDurableBeforeSync) {
    auto log = DirectLog::create(path, {.batch = 4});
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(make(1)));
    EXPECT_EQ(log->last_sequence(), 1U);
    EXPECT_EQ(log->durable_sequence(), 0U);
    ASSERT_TRUE(log->sync());
    EXPECT_EQ(log->durable_sequence(), 1U);
    ASSERT_TRUE(log->sync()); // nothing new: harmless
    expect_records(1);
}

TEST_F(DirectLogTest, OneFlushPerSyncInTheGroupModes) {
    auto log = DirectLog::create(path, {.batch = 8});
    ASSERT_TRUE(log);
    for (std::uint64_t n = 1; n <= 8; ++n)
        ASSERT_TRUE(log->append(make(n)));
    ASSERT_TRUE(log->sync());
    EXPECT_EQ(log->stats().flushes, 1U);
    EXPECT_EQ(log->stats().writes, 8U);
}

TEST_F(DirectLogTest, PreallocatedLogDoesNotGrowAndRecovers) {
    write(3, {.preallocate_blocks = 300});
    EXPECT_EQ(std::filesystem::file_size(path), 300U * 4096U);
    expect_records(3);

    auto log = DirectLog::open(path, {});
    ASSERT_TRUE(log);
    EXPECT_EQ(log->recovery().tail, Tail::zeros);
    ASSERT_TRUE(log->append(make(4)));
    ASSERT_TRUE(log->close());

    EXPECT_EQ(std::filesystem::file_size(path), 300U * 4096U);
    expect_records(4);
}

// Two legal outcomes of a crash that the Go reference cannot open: a size that is not a multiple
// of the block, and a last block of zeros.
TEST_F(DirectLogTest, OddSizeAndZeroLastBlockAreLegalCrashOutcomes) {
    for (const std::uint64_t bytes : {8193U, 8192U + 112U, 12287U, 12288U}) {
        SCOPED_TRACE(bytes);
        write(2);
        resize(bytes); // the new part reads as zeros

        auto log = DirectLog::open(path, {});

        ASSERT_TRUE(log) << describe(log.error());
        EXPECT_EQ(log->recovery().records, 2U);
        ASSERT_TRUE(log->append(make(3)));
        ASSERT_TRUE(log->close());
        expect_records(3);
        std::filesystem::remove(path);
    }
}

TEST_F(DirectLogTest, OpenTruncatesTornTailBeforeNextAppend) {
    write(3);
    patch(2 * 4096 + 60, "torn");

    auto log = DirectLog::open(path, {});

    ASSERT_TRUE(log) << describe(log.error());
    EXPECT_EQ(log->recovery().records, 2U);
    EXPECT_EQ(log->recovery().tail, Tail::torn);
    EXPECT_EQ(log->recovery().torn_block, 2U);
    EXPECT_EQ(std::filesystem::file_size(path), 8192U);
    EXPECT_EQ(*log->append(make(3)), 3U);
    ASSERT_TRUE(log->close());
    expect_records(3);
}

TEST_F(DirectLogTest, EveryCutOfTheLastBlockRecoversOnlyVerifiedPrefix) {
    write(2);
    const std::vector<char> good = image();
    for (std::uint64_t cut = 4096; cut < 8192; cut += cut < 4096 + 112 ? 1 : 509) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(good.data(), static_cast<std::streamsize>(cut));
        const auto records = read();
        ASSERT_TRUE(records) << cut;
        EXPECT_EQ(records->size(), 1U) << cut;
    }
}

TEST_F(DirectLogTest, DamageBeforeAValidRecordIsRefusedAndTheFileUntouched) {
    write(5);
    patch(2 * 4096 + 60, "rot!");
    const std::vector<char> before = image();

    const auto log = DirectLog::open(path, {});

    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::corrupt);
    EXPECT_NE(log.error().context.find("block 2"), std::string::npos) << log.error().context;
    EXPECT_NE(log.error().context.find(path.string()), std::string::npos);
    EXPECT_EQ(image(), before);
    EXPECT_FALSE(read());
}

TEST_F(DirectLogTest, SequenceGapIsRejected) {
    write(3);
    const std::vector<char> bytes = image();
    patch(4096, {bytes.data() + 8192, 4096}); // record 3 where record 2 must be

    const auto log = DirectLog::open(path, {});

    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::corrupt);
    EXPECT_NE(log.error().context.find("sequence 3"), std::string::npos);
}

} // namespace
} // namespace promtact::wal
