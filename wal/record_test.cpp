// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <charconv>

#include <malloc.h>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/record.hpp>

namespace promtact::wal {
namespace {

constexpr Record example{
    .sequence = 1,
    .index = 1,
    .term = 2,
    .command = 3,
    .kind = 1,
    .old_voters = 7,
    .new_voters = 13,
    .operation = 1,
    .client_id = 41,
    .request_id = 12,
    .key = 99,
    .value = 1234};

// The bytes the Go reference writes for `example`.
constexpr const char* example_hex = "48595057414c3033"
                                    "0300"
                                    "0000"
                                    "0100000000000000"
                                    "0100000000000000"
                                    "0200000000000000"
                                    "0300000000000000"
                                    "0100"
                                    "000000000000"
                                    "0700000000000000"
                                    "0d00000000000000"
                                    "0100"
                                    "0000"
                                    "2900000000000000"
                                    "0c00000000000000"
                                    "6300000000000000"
                                    "d204000000000000"
                                    "00000000"
                                    "612d224e";

RecordBytes from_hex(const char* hex) {
    RecordBytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::uint8_t value = 0;
        static_cast<void>(std::from_chars(hex + 2 * i, hex + 2 * i + 2, value, 16));
        bytes[i] = std::byte{value};
    }
    return bytes;
}

RecordBytes encoded(const Record& record) {
    RecordBytes bytes{};
    encode(record, bytes);
    return bytes;
}

void seal(RecordBytes& bytes) {
    const std::span<std::byte> all = bytes;
    store_le<std::uint32_t>(all, RecordLayout::checksum, crc32c(all.first(RecordLayout::checksum)));
}

TEST(WalRecord, EncodesTheReferenceVectorByteForByte) {
    EXPECT_EQ(encoded(example), from_hex(example_hex));
}

TEST(WalRecord, DecodesTheReferenceVector) {
    const auto record = decode(from_hex(example_hex));
    ASSERT_TRUE(record);
    EXPECT_EQ(*record, example);
}

TEST(WalRecord, EveryFieldRoundTripsAlone) {
    std::array<Record, 12> records{};
    constexpr std::uint64_t large = 0xfedcba9876543210;
    records[0].sequence = large;
    records[1].index = large;
    records[2].term = large;
    records[3].command = large;
    records[4].kind = 0xff;
    records[5].old_voters = large;
    records[6].new_voters = large;
    records[7].operation = 0xff;
    records[8].client_id = large;
    records[9].request_id = large;
    records[10].key = large;
    records[11].value = large;
    for (const Record& record : records) {
        const RecordBytes bytes = encoded(record);
        EXPECT_EQ(*decode(bytes), record);
        for (const Record& other : records) // no two fields share a byte
            EXPECT_EQ(encoded(other) == bytes, other == record);
    }
}

TEST(WalRecord, RefusesEveryFlippedBit) {
    const RecordBytes good = encoded(example);
    for (std::size_t bit = 0; bit < record_bytes * 8; ++bit) {
        RecordBytes bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
        for (const DecodeMode mode : {DecodeMode::strict, DecodeMode::reference})
            EXPECT_FALSE(decode(bad, mode)) << "bit " << bit;
    }
    EXPECT_TRUE(decode(good));
}

TEST(WalRecord, ChecksumRejectsCompleteCorruption) {
    RecordBytes bytes = encoded(example);
    bytes[RecordLayout::value] ^= std::byte{0x40};

    const auto record = decode(bytes);

    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().code, Errc::corrupt);
}

TEST(WalRecord, RefusesEveryOtherLength) {
    std::array<std::byte, 2 * record_bytes> bytes{};
    encode(example, std::span(bytes).first<record_bytes>());
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        if (length == record_bytes) continue;
        EXPECT_EQ(decode(std::span(bytes).first(length)).error().code, Errc::format);
    }
}

TEST(WalRecord, NamesMagicAndVersion) {
    RecordBytes magic = encoded(example);
    magic[7] = std::byte{'4'};
    seal(magic);
    RecordBytes version = encoded(example);
    version[RecordLayout::version] = std::byte{4};
    seal(version);

    EXPECT_EQ(decode(magic).error().code, Errc::format);
    EXPECT_NE(decode(version).error().context.find("version 4"), std::string::npos);
}

// W16: what the reference ignores or cuts off, strict mode refuses and names.
TEST(WalRecord, StrictModeRefusesEveryReservedByteAndFlag) {
    const std::array<std::array<std::size_t, 2>, 4> extents{
        {{10, 12}, {46, 52}, {70, 72}, {104, 108}}};
    for (const auto& [from, to] : extents) {
        for (std::size_t at = from; at < to; ++at) {
            RecordBytes bytes = encoded(example);
            bytes[at] = std::byte{1};
            seal(bytes);
            const auto strict = decode(bytes, DecodeMode::strict);
            ASSERT_FALSE(strict) << at;
            EXPECT_EQ(strict.error().code, Errc::format);
            EXPECT_EQ(*decode(bytes, DecodeMode::reference), example) << at;
        }
    }
}

TEST(WalRecord, StrictModeRefusesWhatReferenceModeCutsTo8Bits) {
    for (const std::size_t at : {RecordLayout::kind, RecordLayout::operation}) {
        RecordBytes bytes = encoded(example);
        bytes[at + 1] = std::byte{1}; // 0x0101
        seal(bytes);

        EXPECT_NE(decode(bytes).error().context.find("257"), std::string::npos);
        EXPECT_EQ(*decode(bytes, DecodeMode::reference), example);
    }
}

TEST(WalRecord, EncodingAllocatesNothing) {
    const auto allocated = [] { return ::mallinfo2().uordblks; };
    const std::size_t start = allocated();
    const std::vector<std::byte> control(100'000);
    if (allocated() == start)
        GTEST_SKIP() << "needs an allocator that counts (not a sanitizer's): " << control.size();
    RecordBytes bytes{};
    const std::size_t before = allocated();

    for (int i = 0; i < 100; ++i)
        encode(example, bytes);

    EXPECT_EQ(allocated(), before);
}

} // namespace
} // namespace promtact::wal
