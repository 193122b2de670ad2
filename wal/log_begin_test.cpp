// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log whose first record is not number 1, as one that takes over from a snapshot.
#include <cerrno>

#include <gtest/gtest.h>

#include <promtact/base/crash_images.hpp>

#include "testing/log_driver.hpp"

namespace promtact::wal::testing {
namespace {

constexpr Lsn first = 50;

LogOptions options_from(Lsn lsn) {
    LogOptions options = small_options();
    options.first_lsn = lsn;
    return options;
}

TEST(WalLogBegin, ALogMayBeginAboveLsnOne) {
    disk::Pool pool(4096);
    LogDriver driver(pool, {}, options_from(first));
    ASSERT_TRUE(driver.open());

    EXPECT_EQ(driver.commit(100, 3), first + 2);
    ASSERT_TRUE(driver.close());

    const ScanReport report = scan_image(pool, driver.crash());
    EXPECT_EQ(to_string(report.verdict), to_string(Verdict::ok)) << report.text;
    EXPECT_EQ(report.first_live_lsn, first);
    LogDriver again(pool, driver.crash());
    ASSERT_TRUE(again.open());
    EXPECT_EQ(again.log->first_live(), first);
    EXPECT_EQ(again.read(first, first + 2).size(), 3U);
    std::vector<std::byte> buffer(frame_blocks_max * block_bytes);
    EXPECT_FALSE(again.log->start_read(first - 1, buffer).has_value());
    EXPECT_EQ(again.commit(), first + 3);
}

TEST(WalLogBegin, TheLastLsnIsTakenAndNoneBehindIt) {
    disk::Pool pool(4096);
    LogDriver driver(pool, {}, options_from(lsn_last - 1));
    ASSERT_TRUE(driver.open());
    EXPECT_EQ(driver.commit(), lsn_last - 1);
    EXPECT_EQ(driver.commit(), lsn_last);

    const auto append = driver.log->append(payload_of(1));
    const auto truncate = driver.log->truncate_suffix(lsn_last - 1);

    for (const auto& refused : {append, truncate}) {
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, Errc::out_of_range);
        EXPECT_EQ(refused.error().sys_errno, EOVERFLOW);
        EXPECT_NE(refused.error().context.find(std::to_string(lsn_last)), std::string::npos);
        EXPECT_NE(refused.error().context.find("begin a new log"), std::string::npos);
    }
    ASSERT_TRUE(driver.close()) << "what is there is a log like any other";
    const ScanReport report = scan_image(pool, driver.crash());
    EXPECT_EQ(to_string(report.verdict), to_string(Verdict::ok)) << report.text;
    EXPECT_EQ(report.end.next_lsn, lsn_last + 1);
    LogDriver again(pool, driver.crash());
    ASSERT_TRUE(again.open()) << again.log->open_error().context;
    EXPECT_EQ(again.read(lsn_last - 1, lsn_last).size(), 2U);
    EXPECT_FALSE(again.log->append(payload_of(1)).has_value());
}

TEST(WalLogBegin, AFullLogWhoseSegmentIsFullOpensInTheNext) {
    disk::Pool pool(4096);
    constexpr Lsn records = 40;
    LogDriver driver(pool, {}, options_from(lsn_last - records + 1));
    ASSERT_TRUE(driver.open());
    for (Lsn i = 0; i < records; ++i)
        ASSERT_NE(driver.commit(3000), 0U);
    EXPECT_GT(driver.log->segments().size(), 1U);

    LogDriver again(pool, driver.crash());
    ASSERT_TRUE(again.open()) << again.log->open_error().context;
    EXPECT_EQ(again.log->last(), lsn_last);
    EXPECT_FALSE(again.log->append(payload_of(1)).has_value());
}

TEST(WalLogBegin, AFirstLsnThatNoRecordMayHaveIsRefusedAndNothingIsMade) {
    for (const Lsn lsn : {lsn_last + 1, lsn_last + 2, ~Lsn{0} - 1, ~Lsn{0}}) {
        disk::Pool pool(4096);
        LogDriver driver(pool, {}, options_from(lsn));
        EXPECT_FALSE(driver.open());
        EXPECT_EQ(driver.log->open_error().code, Errc::out_of_range);
        EXPECT_NE(
            driver.log->open_error().context.find(std::to_string(lsn_last)), std::string::npos);
        EXPECT_TRUE(driver.memory.model().pending().empty());
    }
}

TEST(WalLogBegin, ACrashAtAnyMomentOfItsCreationKeepsWhereItBegins) {
    disk::Pool pool(4096);
    LogDriver driver(pool, {}, options_from(first));
    std::uint64_t images = 0;
    std::uint64_t empty = 0;
    Lsn acknowledged = first - 1;
    bool checking = false;
    driver.memory.observe([&](MemoryStorage::Moment, const MemoryStorage::Request&) {
        if (checking) return;
        checking = true;
        const disk::CrashOptions few{.exhaustive_max = 6, .pairs_max = 0, .random = 8};
        disk::crash_images(driver.memory.model(), few, [&](const disk::Image& image) {
            ++images;
            LogDriver again(pool, image, options_from(first));
            ASSERT_TRUE(again.open()) << again.log->open_error().context;
            empty += again.log->segments().front().end.next_lsn == first ? 1 : 0;
            EXPECT_GE(again.log->durable(), acknowledged);
            EXPECT_EQ(again.log->first_live(), first);
            const Lsn next = again.log->last() + 1;
            EXPECT_EQ(again.commit(), next);
            EXPECT_EQ(again.read(first, next).size(), next - first + 1);
        });
        checking = false;
    });
    ASSERT_TRUE(driver.open());
    for (int i = 0; i < 2; ++i) {
        driver.append(payload_of(1));
        driver.pump(3);
        acknowledged = driver.log->durable();
    }
    EXPECT_GT(images, 200U);
    EXPECT_GT(empty, 100U);
}

} // namespace
} // namespace promtact::wal::testing
