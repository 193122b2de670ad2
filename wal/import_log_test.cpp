// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/import_log.hpp>

namespace promtact::wal {
namespace {

using ::testing::HasSubstr;
using Content = std::vector<std::byte>;

class ImportLog : public ::testing::TestWithParam<ImportLayout> {
  protected:
    [[nodiscard]] std::size_t slot() const { return import_slot_bytes(GetParam()); }
    [[nodiscard]] Content log(std::uint64_t count) const {
        Content bytes(count * slot());
        for (std::uint64_t n = 0; n < count; ++n) {
            encode(
                {.sequence = n + 1, .index = n, .term = 2, .command = 77 + n},
                std::span(bytes).subspan(n * slot()).first<record_bytes>());
        }
        return bytes;
    }
    Result<Recovery> import(std::span<const std::byte> bytes, std::size_t piece = SIZE_MAX) {
        records.clear();
        LogImporter importer(GetParam(), DecodeMode::reference, [this](const Record& record) {
            records.push_back(record);
            return Result<void>();
        });
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t count = std::min(piece, bytes.size() - at);
            PROMTACT_TRY(importer.feed(bytes.subspan(at, count)));
            at += count;
        }
        return importer.finish();
    }

    std::vector<Record> records{};
};

TEST_P(ImportLog, ReadsTheReferencesVectorBitForBit) {
    const std::string hex =
        "48595057414c3033030000000100000000000000010000000000000002000000000000000300000000000000"
        "010000000000000007000000000000000d00000000000000010000002900000000000000"
        "0c000000000000006300000000000000d20400000000000000000000612d224e";
    Content bytes(slot());
    for (std::size_t at = 0; at < record_bytes; ++at)
        bytes[at] = static_cast<std::byte>(std::stoul(hex.substr(2 * at, 2), nullptr, 16));

    ASSERT_TRUE(import(bytes));

    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(
        records[0], (Record{
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
                        .value = 1234}));
    EXPECT_EQ(guess_import_layout(bytes), GetParam());
}

TEST_P(ImportLog, PiecesOfEverySizeGiveTheSameRecords) {
    const Content bytes = log(5);
    for (const std::size_t piece : {1U, 7U, 111U, 112U, 113U, 4096U, 100000U}) {
        const auto recovery = import(bytes, piece);
        ASSERT_TRUE(recovery);
        EXPECT_EQ(recovery->records, 5U);
        EXPECT_EQ(recovery->valid_bytes, bytes.size());
        EXPECT_EQ(recovery->file_bytes, bytes.size());
        EXPECT_EQ(recovery->tail, Tail::clean);
        EXPECT_EQ(records.size(), 5U);
    }
    EXPECT_EQ(
        guess_import_layout(std::span(bytes).first(std::min<std::size_t>(4096, bytes.size()))),
        GetParam());
}

TEST_P(ImportLog, EveryCutIsATornTailBehindTheWholeRecords) {
    const Content bytes = log(3);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto recovery = import(std::span(bytes).first(size));
        ASSERT_TRUE(recovery) << size;
        EXPECT_EQ(recovery->records, size / slot());
        EXPECT_EQ(recovery->file_bytes, size);
        EXPECT_EQ(recovery->tail, size % slot() == 0 ? Tail::clean : Tail::torn);
    }
}

TEST_P(ImportLog, AFullLengthTailOfZerosIsNoRecord) {
    Content bytes = log(2);
    bytes.resize(4 * slot());

    const auto recovery = import(bytes);

    ASSERT_TRUE(recovery);
    EXPECT_EQ(recovery->records, 2U);
    EXPECT_EQ(recovery->tail, Tail::zeros);
}

TEST_P(ImportLog, EveryFlippedByteBeforeTheLastRecordIsRefusedWithItsPlace) {
    Content bytes = log(3);
    for (std::size_t at = 0; at < 2 * slot(); ++at) {
        bytes[at] ^= std::byte{0x40};
        const auto recovery = import(bytes);
        ASSERT_FALSE(recovery) << at;
        EXPECT_EQ(recovery.error().code, Errc::corrupt);
        const std::size_t named = at / slot();
        EXPECT_THAT(
            recovery.error().context,
            HasSubstr(
                "record " + std::to_string(named) + " at byte " + std::to_string(named * slot())));
        bytes[at] ^= std::byte{0x40};
    }
}

TEST_P(ImportLog, AFlippedByteInTheLastRecordLooksLikeATear) {
    Content bytes = log(3);
    for (std::size_t at = 2 * slot(); at < 2 * slot() + record_bytes; ++at) {
        bytes[at] ^= std::byte{0x40};
        const auto recovery = import(bytes);
        ASSERT_TRUE(recovery) << at;
        EXPECT_EQ(recovery->records, 2U);
        EXPECT_EQ(recovery->tail, Tail::torn);
        bytes[at] ^= std::byte{0x40};
    }
}

TEST_P(ImportLog, AGapInTheSequenceIsNamed) {
    Content bytes = log(2);
    encode({.sequence = 5}, std::span(bytes).subspan(slot()).first<record_bytes>());

    const auto recovery = import(bytes);

    ASSERT_FALSE(recovery);
    EXPECT_EQ(recovery.error().code, Errc::corrupt);
    EXPECT_THAT(
        recovery.error().context, HasSubstr(
                                      "record 1 at byte " + std::to_string(slot()) +
                                      ": sequence (byte 12) is 5 where 2 must be"));
}

TEST_P(ImportLog, ANumberThatIsAbsurdIsNamedWithWhatHelpsAndNothingIsFilled) {
    for (const std::uint64_t sequence : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
        Content bytes = log(3);
        encode({.sequence = sequence}, std::span(bytes).subspan(2 * slot()).first<record_bytes>());

        const auto recovery = import(bytes);

        ASSERT_FALSE(recovery);
        EXPECT_EQ(recovery.error().code, Errc::corrupt);
        EXPECT_EQ(records.size(), 2U);
        const std::string offset = std::to_string(2 * slot());
        EXPECT_THAT(recovery.error().context, HasSubstr("record 2 at byte " + offset));
        EXPECT_THAT(recovery.error().context, HasSubstr(std::to_string(sequence)));
        EXPECT_THAT(
            recovery.error().context,
            HasSubstr("before byte " + offset + " stand: cut a copy of the file there"));
    }
}

TEST_P(ImportLog, AnIntactRecordOfAnotherVersionIsFormat) {
    Content bytes = log(1);
    store_le<std::uint16_t>(bytes, RecordLayout::version, 4);
    store_le<std::uint32_t>(
        bytes, RecordLayout::checksum, crc32c(std::span(bytes).first(RecordLayout::checksum)));

    EXPECT_EQ(import(bytes).error().code, Errc::format);
}

TEST_P(ImportLog, AnErrorOfTheSinkEndsTheImport) {
    int calls = 0;
    LogImporter importer(GetParam(), DecodeMode::strict, [&calls](const Record&) -> Result<void> {
        ++calls;
        return Error{Errc::no_space, 0, "enough"};
    });

    EXPECT_EQ(importer.feed(log(3)).error().code, Errc::no_space);
    EXPECT_EQ(importer.finish().error().code, Errc::no_space);
    EXPECT_EQ(calls, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ImportLog, ::testing::Values(ImportLayout::flat, ImportLayout::blocks),
    [](const auto& row) { return row.param == ImportLayout::flat ? "flat" : "blocks"; });

TEST(ImportLayout, IsNotGuessedFromBytesThatDoNotTell) {
    EXPECT_FALSE(guess_import_layout({}));
    Content bytes(4096);
    EXPECT_FALSE(guess_import_layout(bytes));
    encode({.sequence = 1}, std::span(bytes).first<record_bytes>());
    bytes[500] = std::byte{1};
    EXPECT_FALSE(guess_import_layout(bytes));
}

} // namespace
} // namespace promtact::wal
