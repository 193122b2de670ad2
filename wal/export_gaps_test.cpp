// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What an export says of records that are not there, and what an import does with it.
#include <cerrno>
#include <functional>

#include <gtest/gtest.h>

#include "testing/export_text.hpp"

namespace promtact::wal::testing {
namespace {

/// Its last record's blocks cannot be read, and SUPER, closed cleanly, says that it was there.
TEST(WalSalvage, RecordsMissingAtTheEndAreAGapAndCounted) {
    disk::Pool pool(4096);
    LogDriver driver(pool, {}, DamageBase::options());
    ASSERT_TRUE(driver.open());
    for (int i = 0; i < 5; ++i)
        ASSERT_NE(driver.commit(9000), 0U);
    const disk::Image open = driver.crash();
    ASSERT_TRUE(driver.close());
    const std::uint64_t only = driver.log->segments().front().segment;
    struct Row {
        const char* name;
        disk::Image start;
        std::function<void(Image&)> damage;
        Lsn unread;
    };
    const std::vector<Row> rows{
        {"closed, nothing damaged", driver.crash(), [](Image&) {}, 0},
        {"closed, the last frame's body", driver.crash(),
         [&](Image& i) { i.flip(only, at(5) + 1, 7); }, 1},
        {"closed, the last two frames' headers", driver.crash(),
         [&](Image& i) {
             i.zero(only, at(4));
             i.zero(only, at(5));
         },
         2},
        {"closed, cut short", driver.crash(),
         [&](Image& i) { i.segment(only).set_size(at(3) * block_bytes, *i.pool); }, 3},
        {"open, the last frame: nothing vouches for it", open,
         [&](Image& i) { i.flip(only, at(5) + 1, 7); }, 0},
        {"open, the one before: the last says it was acknowledged", open,
         [&](Image& i) {
             i.flip(only, at(4) + 1, 7);
             i.flip(only, at(5) + 1, 7);
         },
         1},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        Image image(pool, row.start);
        row.damage(image);
        const Exported saved = export_image(pool, image.image, true);
        ASSERT_TRUE(saved.tally.has_value()) << saved.tally.error().context;
        EXPECT_EQ(saved.tally->unread, row.unread);
        EXPECT_EQ(saved.tally->next_lsn - 1, saved.tally->records + row.unread);
        const std::string count = ",\"unread\":" + std::to_string(row.unread) + "}";
        EXPECT_EQ(saved.text.find(count) != std::string::npos, row.unread != 0) << saved.text;
        const auto again = import_text(pool, saved.text, {.entropy = 5, .accept_gaps = true});
        ASSERT_TRUE(again.has_value()) << again.error().context;
        EXPECT_EQ(scan_image(pool, *again).end.next_lsn, saved.tally->next_lsn);
    }
}

/// What a refused log shows as its first live segment may be the damage: SUPER says where it
/// begins.
TEST(WalSalvage, RecordsMissingAtTheStartAreAGapToo) {
    DamageBase& base = damage_base(4096);
    const ScanReport before = scan_image(base.pool, base.quiet);
    ASSERT_GE(before.segments.size(), 3U);
    for (const std::uint64_t with : {before.segments[1].segment, before.segments[2].segment}) {
        Image image(base.pool, base.quiet);
        const std::uint64_t first = before.segments[0].segment;
        for (std::size_t block = 0; block < 32; ++block)
            image.set_block(first, block, image.block(with, block));
        const Exported saved = export_image(base.pool, image.image, true);
        ASSERT_TRUE(saved.tally.has_value()) << saved.tally.error().context;
        EXPECT_EQ(saved.tally->first_lsn, before.first_live_lsn);
        EXPECT_EQ(saved.tally->unread, before.segments[1].first_lsn - before.first_live_lsn);
    }
}

/// Of the newest segment only a seal's successor knows how far it went.
TEST(WalSalvage, ASegmentThatCannotBeReadIsAGapUpToTheNext) {
    DamageBase& base = damage_base(4096);
    Image image(base.pool, base.quiet);
    const ScanReport before = scan_image(base.pool, base.quiet);
    const Lsn first = before.segments[1].first_lsn;
    for (std::size_t block = 0; block < 32; ++block)
        image.zero(8, block);

    const Exported saved = export_image(base.pool, image.image, true);

    ASSERT_TRUE(saved.tally.has_value());
    EXPECT_EQ(saved.tally->unread, before.segments[2].first_lsn - first);
    EXPECT_EQ(saved.tally->next_lsn, base.lsn_next);
}

/// What a crash tore was void from then on, though some of it can be read.
TEST(WalSalvage, WhatACrashToreIsNoRecordAndNoGap) {
    DamageBase base(4096);
    const disk::Image torn = base.in_flight([](auto block, auto) {
        return block >= DamageBase::eight; // F(8) whole, nothing of F(7)
    });
    const Exported plain = export_image(base.pool, torn);
    const Exported saved = export_image(base.pool, torn, true);
    EXPECT_EQ(saved.text, plain.text);
    LogDriver again(base.pool, torn, DamageBase::options());
    ASSERT_TRUE(again.open());
    ASSERT_EQ(again.commit(100, 3), base.lsn_next + 2);

    const disk::Image image = again.crash();
    const Exported later = export_image(base.pool, image, true);

    EXPECT_EQ(later.text, export_image(base.pool, image).text);
    EXPECT_EQ(later.tally->unread, 0U);
}

TEST(WalSalvage, WhatMayNotBeReadIsDeniedAndNoGap) {
    DamageBase& base = damage_base(4096);
    for (const IoKind kind : {IoKind::list, IoKind::open}) {
        for (std::uint64_t n = 0; n < 12; ++n) {
            MemoryStorage memory(base.pool, base.quiet, {});
            FaultStorage faults(memory, 1);
            faults.add(
                {.kind = kind, .after = n, .fault = StorageFault::fail, .sys_errno = EACCES});
            const auto tally = export_log(
                faults, {.salvage = true}, [](std::string_view) { return Result<void>{}; });
            if (faults.struck(0) == 0) break;
            if (!tally) {
                EXPECT_EQ(tally.error().code, Errc::denied) << tally.error().context;
            } else {
                EXPECT_EQ(tally->unread, 0U) << to_string(kind) << " " << n;
            }
        }
    }
}

TEST(WalImport, AGapThatNoLogHadIsRefusedAndNotFilled) {
    disk::Pool pool(4096);
    const std::string head = export_header() + "\n";
    const auto gap_to = [&](Lsn last) {
        return import_text(
            pool,
            head + "{\"gap\":1,\"last\":" + std::to_string(last) +
                "}\n{\"next_lsn\":" + std::to_string(last + 1) + ",\"records\":0,\"digest\":0}\n",
            {.entropy = 5, .accept_gaps = true});
    };
    ASSERT_TRUE(gap_to(1000).has_value()) << "the control";
    for (const Lsn last : {(Lsn{1} << 24) + 1, Lsn{1} << 40, lsn_last}) {
        const auto refused = gap_to(last);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, Errc::refused);
        for (const std::string& words :
             {"line 2: the gap from record 1 to " + std::to_string(last), std::string("16777216"),
              "begin a new log at LSN " + std::to_string(last + 1)}) {
            EXPECT_NE(refused.error().context.find(words), std::string::npos)
                << refused.error().context;
        }
    }
}

TEST(WalImport, AnLsnThatNoLogReachesIsRefusedWithTheLimit) {
    const std::string limit = std::to_string(lsn_last);
    for (const std::string& lsn :
         {std::to_string(lsn_last + 1), std::to_string(~Lsn{0} - 1), std::to_string(~Lsn{0})}) {
        for (const std::string& line :
             {R"({"lsn":)" + lsn + R"(,"type":0,"flags":0,"schema":0,"crc":0,"payload":""})",
              R"({"lsn":)" + lsn + R"(,"keep":1})", R"({"gap":1,"last":)" + lsn + "}",
              R"({"gap":)" + lsn + R"(,"last":)" + lsn + "}"}) {
            ExportReader reader;
            ASSERT_TRUE(reader.read(export_header()).has_value());
            const auto item = reader.read(line);
            ASSERT_FALSE(item.has_value()) << line;
            EXPECT_NE(
                item.error().context.find("the last LSN of a log is " + limit), std::string::npos)
                << item.error().context;
        }
    }
    disk::Pool pool(4096);
    const auto begins = import_text(pool, export_header(lsn_last + 1) + "\n");
    ASSERT_FALSE(begins.has_value()) << "no record fits behind it";
    EXPECT_EQ(begins.error().code, Errc::out_of_range);
}

TEST(WalImport, AnEndThatCountsOtherGapsIsRefused) {
    ExportReader reader;
    ASSERT_TRUE(reader.read(export_header()).has_value());
    ASSERT_TRUE(reader.read(R"({"gap":1,"last":4})").has_value());
    EXPECT_FALSE(reader.read(R"({"next_lsn":5,"records":0,"digest":0,"unread":3})").has_value());
    EXPECT_TRUE(reader.read(R"({"next_lsn":5,"records":0,"digest":0,"unread":4})").has_value());
}

} // namespace
} // namespace promtact::wal::testing
