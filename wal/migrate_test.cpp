// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/wal/migrate.hpp>

#include "testing/log_driver.hpp"

namespace promtact::wal::testing {
namespace {

constexpr std::uint64_t records = 100;

RecordBytes record_of(std::uint64_t sequence) {
    RecordBytes bytes{};
    encode({.sequence = sequence, .index = sequence + 7, .term = 3, .value = sequence * 11}, bytes);
    return bytes;
}

std::vector<std::byte> old_file(ImportLayout layout) {
    std::vector<std::byte> file;
    for (std::uint64_t sequence = 1; sequence <= records; ++sequence) {
        const RecordBytes bytes = record_of(sequence);
        file.insert(file.end(), bytes.begin(), bytes.end());
        file.resize(import_slot_bytes(layout) * sequence);
    }
    return file;
}

struct Migrated {
    Result<Recovery> recovery = Recovery{};
    disk::Image image{};
};

Migrated migrate(
    disk::Pool& pool, std::span<const std::byte> file, ImportLayout layout, std::size_t piece,
    std::uint32_t window = 1) {
    MemoryStorage memory(pool, {}, {});
    auto migration = LogMigration::create(
        memory, {.layout = layout, .window = window, .segment_bytes = 64 * 1024, .entropy = 3});
    EXPECT_TRUE(migration.has_value());
    Migrated result;
    for (std::size_t at = 0; at < file.size(); at += piece) {
        const auto fed = (*migration)->feed(file.subspan(at, std::min(piece, file.size() - at)));
        if (!fed) {
            result.recovery = fed.error();
            return result;
        }
    }
    result.recovery = (*migration)->finish();
    result.image = memory.model().durable();
    return result;
}

void expect_same_records(disk::Pool& pool, const disk::Image& image, std::uint64_t count) {
    LogOptions options = small_options();
    options.open = LogOptions::Open::existing;
    LogDriver driver(pool, image, options);
    ASSERT_TRUE(driver.open()) << driver.log->open_error().context;
    EXPECT_EQ(driver.log->last(), count);
    const auto read = driver.read(1, count);
    ASSERT_EQ(read.size(), count);
    for (std::uint64_t sequence = 1; sequence <= count; ++sequence) {
        const RecordBytes bytes = record_of(sequence);
        EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), read[sequence - 1].begin()));
    }
}

TEST(WalMigrate, EveryRecordComesAcrossByteForByte) {
    for (const ImportLayout layout : {ImportLayout::flat, ImportLayout::blocks}) {
        for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20}) {
            disk::Pool pool(4096);
            const auto file = old_file(layout);
            const Migrated result = migrate(pool, file, layout, piece);
            ASSERT_TRUE(result.recovery.has_value()) << result.recovery.error().context;
            EXPECT_EQ(result.recovery->records, records);
            EXPECT_EQ(result.recovery->tail, Tail::clean);
            expect_same_records(pool, result.image, records);
        }
    }
}

TEST(WalMigrate, ATornTailIsLeftBehindAndReported) {
    disk::Pool pool(4096);
    auto file = old_file(ImportLayout::blocks);
    file[file.size() - 4096 + 50] ^= std::byte{1};

    const Migrated result = migrate(pool, file, ImportLayout::blocks, 4096);

    ASSERT_TRUE(result.recovery.has_value());
    EXPECT_EQ(result.recovery->records, records - 1);
    EXPECT_EQ(result.recovery->tail, Tail::torn);
    expect_same_records(pool, result.image, records - 1);
}

TEST(WalMigrate, DamageInTheMiddleIsNamedAndNothingCounts) {
    disk::Pool pool(4096);
    auto file = old_file(ImportLayout::blocks);
    file[20 * 4096 + 50] ^= std::byte{1};

    const Migrated result = migrate(pool, file, ImportLayout::blocks, 4096);

    ASSERT_FALSE(result.recovery.has_value());
    EXPECT_EQ(result.recovery.error().code, Errc::corrupt);
    EXPECT_NE(result.recovery.error().context.find("record 20"), std::string::npos);
}

TEST(WalMigrate, TheWindowOfABatchingWriterIsKept) {
    // Three records before the end: with one flush per record damage, with batches of four a tear.
    disk::Pool pool(4096);
    auto file = old_file(ImportLayout::blocks);
    file[(records - 3) * 4096 + 50] ^= std::byte{1};

    EXPECT_FALSE(migrate(pool, file, ImportLayout::blocks, 4096).recovery.has_value());
    const Migrated result = migrate(pool, file, ImportLayout::blocks, 4096, 4);
    ASSERT_TRUE(result.recovery.has_value()) << result.recovery.error().context;
    EXPECT_EQ(result.recovery->records, records - 3);
}

TEST(WalMigrate, AnEmptyFileMakesAnEmptyLog) {
    disk::Pool pool(4096);
    const Migrated result = migrate(pool, {}, ImportLayout::flat, 1);
    ASSERT_TRUE(result.recovery.has_value());
    EXPECT_EQ(scan_image(pool, result.image).end.next_lsn, 1U);
}

} // namespace
} // namespace promtact::wal::testing
