// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>

#include <malloc.h>

#include <gtest/gtest.h>

#include "testing/held_storage.hpp"
#include "testing/log_driver.hpp"

namespace promtact::wal::testing {
namespace {

TEST(WalLogCore, ReadsBackWhatItAcknowledgedAcrossSegmentsAndOpens) {
    disk::Pool pool(4096);
    LogDriver first(pool);
    ASSERT_TRUE(first.open());
    for (int i = 0; i < 60; ++i)
        ASSERT_NE(first.commit(static_cast<std::size_t>(i * 90), 2), 0U);
    EXPECT_GT(first.log->stats().rotations, 3U);
    EXPECT_EQ(first.read(1, 120).size(), 120U);

    LogDriver second(pool, first.crash());
    ASSERT_TRUE(second.open()) << second.log->open_error().context;

    EXPECT_EQ(second.log->durable(), 120U);
    const auto records = second.read(1, 120);
    ASSERT_EQ(records.size(), 120U);
    for (Lsn lsn = 1; lsn <= 120; ++lsn)
        EXPECT_EQ(records[lsn - 1], payload_of(lsn, (lsn - 1) / 2 * 90));
    EXPECT_EQ(second.commit(), 121U);
}

TEST(WalLogCore, KeepsTagsAndEmptyRecords) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    const RecordTag tag{.type = 7, .flags = 3, .schema = 99};

    ASSERT_EQ(driver.append({}, tag), 1U);
    ASSERT_TRUE(driver.make_durable());

    std::vector<std::byte> buffer(frame_blocks_max * block_bytes);
    ASSERT_TRUE(driver.log->start_read(1, buffer).has_value());
    driver.pump(4);
    const auto read = driver.log->take_read();
    ASSERT_TRUE(read.has_value());
    RecordCursor cursor((**read).frame, (**read).header, Layout::variable);
    RecordView record;
    ASSERT_TRUE(cursor.next(record));
    EXPECT_EQ(record.tag, tag);
    EXPECT_TRUE(record.payload.empty());
    EXPECT_FALSE(cursor.next(record));
}

TEST(WalLogCore, RefusesARecordThatDoesNotFitAndGoesOn) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    const auto limit = static_cast<std::size_t>(driver.log->record_bytes_max());

    const auto refused = driver.log->append(payload_of(1, limit + 1));

    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_EQ(driver.commit(limit), 1U);
    EXPECT_EQ(driver.read(1, 1).front(), payload_of(1, limit));
}

TEST(WalLogCore, ASealedLogOfFixedRecordsPacksThirtySixToABlock) {
    disk::Pool pool(4096);
    LogOptions options = small_options();
    options.layout = Layout::fixed;
    LogDriver driver(pool, {}, options);
    ASSERT_TRUE(driver.open());
    RecordBytes bytes{};
    encode({.index = 5, .value = 77}, bytes);

    for (int i = 0; i < 72; ++i)
        ASSERT_NE(driver.append(bytes), 0U);
    const std::uint64_t before = driver.log->stats().bytes_written;
    ASSERT_TRUE(driver.make_durable());

    EXPECT_EQ(driver.log->stats().bytes_written - before, 3 * block_bytes) << "header and two";
    const auto records = driver.read(1, 72);
    ASSERT_EQ(records.size(), 72U);
    const auto last = decode(records[71]);
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(last->sequence, 72U);
    EXPECT_EQ(last->value, 77U);
}

TEST(WalLogCore, OneSyncServesAllRecordsThatWaited) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    const LogStats before = driver.log->stats();

    EXPECT_NE(driver.commit(100, 64), 0U);

    EXPECT_EQ(driver.log->stats().syncs - before.syncs, 1U);
    EXPECT_EQ(driver.log->stats().frames - before.frames, 1U);
}

TEST(WalLogCore, GathersAGroupUntilToldToCommit) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    const LogStats before = driver.log->stats();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(driver.log->append(payload_of(2U + static_cast<Lsn>(i), 100)));
        driver.log->pump(driver.now_ns += 1000, LogCore::Group::gather);
    }
    EXPECT_EQ(driver.log->stats().frames, before.frames) << "nothing is written while it gathers";
    EXPECT_EQ(driver.log->durable(), 1U);

    ASSERT_TRUE(driver.make_durable());
    EXPECT_EQ(driver.log->stats().frames - before.frames, 1U);
    EXPECT_EQ(driver.log->durable(), 6U);
}

/// A ready log over a storage whose answers are held back.
struct HeldLog {
    HeldLog() {
        for (int i = 0; i < 1000 && !log.idle(); ++i) {
            pump();
            while (!storage.held().empty())
                storage.answer(0);
        }
    }
    void pump() { log.pump(now_ns += 1000); }
    /// Index of the first request of that kind for a segment that is held back; npos when none.
    [[nodiscard]] std::size_t find(IoKind kind) const {
        const auto& all = storage.held();
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& held) {
            return held.kind == kind && held.file != LogScan::super_file;
        });
        return found == all.end() ? npos : static_cast<std::size_t>(found - all.begin());
    }
    bool answer(IoKind kind) {
        if (find(kind) == npos) return false;
        storage.answer(find(kind));
        pump();
        return true;
    }
    static constexpr std::size_t npos = std::string::npos;
    LogOptions options = small_options();
    disk::Pool pool{4096};
    MemoryStorage memory{pool, {}, {}};
    HeldStorage storage{memory};
    std::vector<std::byte> arena = std::vector<std::byte>(LogCore::arena_bytes(options));
    LogCore log{storage, options, arena};
    std::uint64_t now_ns = 0;
};

TEST(WalLogCore, OneSyncServesABurstLongerThanAFrame) {
    HeldLog held;
    ASSERT_TRUE(held.log.idle());
    const std::uint64_t before = held.log.stats().syncs;
    for (Lsn lsn = 1; lsn <= 3; ++lsn)
        ASSERT_TRUE(held.log.append(payload_of(lsn, 3 * block_bytes)));
    held.pump();
    held.pump();

    for (int frame = 0; frame < 3; ++frame) {
        EXPECT_EQ(held.log.stats().syncs, before) << "more writes are under way";
        ASSERT_TRUE(held.answer(IoKind::write)) << frame;
    }

    EXPECT_EQ(held.log.stats().syncs, before + 1);
    while (!held.storage.held().empty()) { // SUPER names the segment before the acknowledgement
        held.storage.answer(0);
        held.pump();
    }
    EXPECT_EQ(held.log.durable(), 3U);
    EXPECT_EQ(held.log.stats().syncs, before + 1);
}

TEST(WalLogCore, ASyncDoesNotWaitForWritesSubmittedAfterTheFirstWasWhole) {
    HeldLog held;
    ASSERT_TRUE(held.log.idle());
    const std::uint64_t before = held.log.stats().syncs;
    for (Lsn lsn = 1; lsn <= 2; ++lsn)
        ASSERT_TRUE(held.log.append(payload_of(lsn, 3 * block_bytes)));
    held.pump();
    held.pump();
    ASSERT_TRUE(held.answer(IoKind::write)); // from here on the sync waits for the second
    ASSERT_TRUE(held.log.append(payload_of(3, 3 * block_bytes)));
    held.pump();
    ASSERT_TRUE(held.answer(IoKind::write));

    ASSERT_NE(held.find(IoKind::write), HeldLog::npos) << "the third is on its way";
    EXPECT_EQ(held.log.stats().syncs, before + 1);
    EXPECT_NE(held.find(IoKind::sync_data), HeldLog::npos);
}

TEST(WalLogCore, ClosingDoesNotGather) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    ASSERT_TRUE(driver.log->append(payload_of(1, 100)));
    driver.log->close();
    for (int i = 0; i < 1000 && driver.log->state() == LogCore::State::closing; ++i)
        driver.log->pump(driver.now_ns += 1000, LogCore::Group::gather);
    EXPECT_EQ(driver.log->state(), LogCore::State::closed);
    EXPECT_EQ(driver.log->durable(), 1U);
}

TEST(WalLogCore, ReportsEveryLsnOnceInOrder) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    Lsn next = 1;
    for (int i = 0; i < 30; ++i) {
        driver.append(payload_of(1, 3000));
        driver.pump(i % 3);
        std::array<AppendDone, 2> done{};
        const std::size_t count = driver.log->take_done(done);
        for (std::size_t k = 0; k < count; ++k) {
            EXPECT_EQ(done[k].first, next);
            EXPECT_LE(done[k].last, driver.log->durable());
            EXPECT_EQ(done[k].outcome, AppendDone::Outcome::durable);
            next = done[k].last + 1;
        }
    }
    EXPECT_GT(next, 20U);
}

TEST(WalLogCore, AppendingAllocatesNothing) {
    const auto allocated = [] { return ::mallinfo2().uordblks; };
    const std::size_t start = allocated();
    const std::vector<std::byte> control(100'000);
    if (allocated() == start)
        GTEST_SKIP() << "needs an allocator that counts (not a sanitizer's): " << control.size();
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    const auto payload = payload_of(1, 1000);
    ASSERT_TRUE(driver.log->append(payload).has_value());
    const std::size_t before = allocated();

    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(driver.log->append(payload).has_value());

    EXPECT_EQ(allocated(), before);
}

TEST(WalLogCore, TruncationVoidsTheSuffixForEver) {
    disk::Pool pool(4096);
    LogDriver first(pool);
    ASSERT_TRUE(first.open());
    first.commit(100, 10);

    const Result<Lsn> own = first.log->truncate_suffix(6);
    ASSERT_TRUE(own.has_value());
    EXPECT_EQ(*own, 11U);
    EXPECT_EQ(first.commit(), 12U);
    EXPECT_FALSE(
        first.log->truncate_suffix(12).has_value() && first.log->truncate_suffix(99).has_value());

    LogDriver second(pool, first.crash());
    ASSERT_TRUE(second.open());
    ASSERT_FALSE(second.log->voids().empty());
    EXPECT_EQ(second.log->voids().front(), (VoidRange{7, 11}));
}

TEST(WalLogCore, ReleasingRecordsFreesWholeSegments) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    driver.options.recycle = false;
    ASSERT_TRUE(driver.open());
    for (int i = 0; i < 60; ++i)
        driver.commit(3000);
    driver.rest();
    const std::size_t before = driver.memory.model().issued().links.size();

    ASSERT_TRUE(driver.log->release_prefix(50).has_value());
    driver.pump(200);

    EXPECT_LT(driver.memory.model().issued().links.size(), before - 2);
    EXPECT_LE(driver.log->segments().front().first_lsn, 50U);
    EXPECT_FALSE(driver.log->release_prefix(driver.log->last() + 2).has_value());
    std::vector<std::byte> buffer(frame_blocks_max * block_bytes);
    EXPECT_FALSE(driver.log->start_read(1, buffer).has_value());
    LogDriver second(pool, driver.crash());
    ASSERT_TRUE(second.open());
    EXPECT_EQ(second.log->first_live(), 50U);
    EXPECT_EQ(second.read(50, 60).size(), 11U);
}

TEST(WalLogCore, ACleanCloseIsSeenAndContinuedInPlace) {
    disk::Pool pool(4096);
    LogDriver first(pool);
    ASSERT_TRUE(first.open());
    first.commit();
    ASSERT_TRUE(first.close());
    const disk::Image image = first.crash();
    EXPECT_TRUE(scan_image(pool, image).super->clean);

    LogDriver second(pool, image);
    ASSERT_TRUE(second.open());

    EXPECT_EQ(second.commit(), 2U);
    EXPECT_EQ(second.log->segments().size(), 1U) << "no segment is spent on a clean open";
}

TEST(WalLogCore, AnEmptyLogMayBeClosedAgainAndAgain) {
    disk::Pool pool(4096);
    disk::Image image;
    for (int i = 0; i < 3; ++i) {
        LogDriver driver(pool, image);
        ASSERT_TRUE(driver.open());
        image = driver.crash();
        EXPECT_FALSE(scan_image(pool, image).super->clean) << "it is open";
        ASSERT_TRUE(driver.close());
        image = driver.crash();
        EXPECT_TRUE(scan_image(pool, image).super->clean);
    }
}

TEST(WalLogCore, OpenModesAreKept) {
    disk::Pool pool(4096);
    LogOptions options = small_options();
    options.open = LogOptions::Open::existing;
    LogDriver none(pool, {}, options);
    EXPECT_FALSE(none.open());
    EXPECT_EQ(none.log->open_error().code, Errc::not_found);
    EXPECT_TRUE(none.memory.model().issued().links.empty()) << "looking creates nothing";
    LogDriver made(pool);
    ASSERT_TRUE(made.open());
    made.commit();

    options.open = LogOptions::Open::create;
    LogDriver again(pool, made.crash(), options);
    EXPECT_FALSE(again.open());
    EXPECT_EQ(again.log->open_error().code, Errc::exists);
}

TEST(WalLogCore, AFullDeviceIsBackPressureAndReleasingHelps) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    driver.rest();
    driver.memory.set_capacity(3 * driver.options.segment_bytes + 4 * block_bytes);
    Result<Lsn> last = Lsn{0};
    for (int i = 0; i < 500; ++i) {
        last = driver.log->append(payload_of(1, 3000));
        driver.pump(3);
        if (!last && last.error().code == Errc::no_space) break;
    }
    ASSERT_FALSE(last.has_value());
    EXPECT_EQ(last.error().code, Errc::no_space);
    EXPECT_FALSE(driver.log->poisoned());
    ASSERT_TRUE(driver.make_durable());

    ASSERT_TRUE(driver.log->release_prefix(driver.log->durable() + 1).has_value());
    driver.pump(100);
    driver.now_ns += 2 * driver.options.space_retry_ns;
    driver.pump(100);

    EXPECT_NE(driver.commit(), 0U) << "the fence went into the reserved spare";
    LogDriver second(pool, driver.crash());
    EXPECT_TRUE(second.open());
}

} // namespace
} // namespace promtact::wal::testing
