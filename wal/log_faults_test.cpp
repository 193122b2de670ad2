// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the log does when the storage fails: every kind of answer at every position, and the public
// fault reports it was built against.
#include <cerrno>

#include <gtest/gtest.h>

#include "testing/damage.hpp"

namespace promtact::wal::testing {
namespace {

/// Runs a small workload with one rule; what was acknowledged must be found afterwards.
struct Outcome {
    bool struck = false;
    bool poisoned = false;
    bool refused = false;
    Lsn acknowledged = 0;
    int sys_errno = 0;
};

Outcome run_with(const FaultRule& rule, bool keep_all) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    driver.faults.add(rule);
    Outcome outcome;
    const bool ready = driver.open();
    outcome.refused = driver.log->state() == LogCore::State::refused;
    for (int i = 0; ready && i < 30 && !driver.log->poisoned(); ++i) {
        driver.append(payload_of(driver.log->last() + 1, 3000));
        driver.pump(3);
    }
    driver.pump(100);
    outcome.struck = driver.faults.struck(0) > 0;
    outcome.poisoned = driver.log->poisoned();
    outcome.acknowledged = driver.log->durable();
    if (outcome.poisoned) outcome.sys_errno = driver.log->poison().sys_errno;
    std::array<AppendDone, 4> done{};
    const std::size_t count = driver.log->take_done(done);
    if (outcome.poisoned && driver.log->last() > driver.log->durable()) {
        EXPECT_NE(done[count - 1].outcome, AppendDone::Outcome::durable);
        EXPECT_EQ(done[count - 1].last, driver.log->last()) << "every append is answered";
    }
    if (outcome.poisoned) {
        const auto later = driver.log->append({});
        EXPECT_EQ(later.error().code, Errc::poisoned);
        EXPECT_EQ(later.error().sys_errno, outcome.sys_errno) << "the first errno stays";
    }
    LogDriver after(pool, driver.crash(keep_all));
    EXPECT_TRUE(after.open()) << after.log->open_error().context;
    EXPECT_GE(after.log->durable(), outcome.acknowledged);
    EXPECT_NE(after.commit(), 0U);
    return outcome;
}

constexpr IoKind changing[] = {IoKind::write,    IoKind::sync_data, IoKind::create,
                               IoKind::allocate, IoKind::rename,    IoKind::sync_dir};

TEST(WalLogFaults, AnErrorAtAnyPositionStopsTheLogAndLosesNothing) {
    int positions = 0;
    for (const IoKind kind : changing) {
        for (const StorageFault fault : {StorageFault::fail, StorageFault::fail_done}) {
            for (std::uint64_t n = 0; n < 200; ++n) {
                SCOPED_TRACE(std::string(to_string(kind)) + " " + std::to_string(n));
                const Outcome outcome = run_with(
                    {.kind = kind, .after = n, .fault = fault, .sys_errno = EIO}, n % 2 == 0);
                if (!outcome.struck) break;
                ++positions;
                EXPECT_TRUE(outcome.poisoned || outcome.refused);
                if (outcome.poisoned) {
                    EXPECT_EQ(outcome.sys_errno, EIO);
                }
            }
        }
    }
    EXPECT_GT(positions, 100);
}

TEST(WalLogFaults, EagainAndAFirstShortWriteAreWrittenAgain) {
    for (std::uint64_t n = 0; n < 200; ++n) {
        const Outcome again = run_with(
            {.kind = IoKind::write, .after = n, .fault = StorageFault::fail, .sys_errno = EAGAIN},
            false);
        const Outcome cut = run_with(
            {.kind = IoKind::write, .after = n, .fault = StorageFault::short_count, .amount = 512},
            false);
        EXPECT_FALSE(again.poisoned || again.refused);
        EXPECT_FALSE(cut.poisoned || cut.refused);
        if (!again.struck) break;
    }
}

TEST(WalLogFaults, ASecondShortWriteStopsTheLog) {
    const Outcome outcome = run_with(
        {.kind = IoKind::write,
         .file = 1,
         .after = 6,
         .count = 40,
         .fault = StorageFault::short_count,
         .amount = 512},
        false);

    EXPECT_TRUE(outcome.struck);
    EXPECT_TRUE(outcome.poisoned || outcome.refused);
}

TEST(WalLogFaults, AnswersInAnyOrderLateOrTwiceNeverCrashTheLog) {
    for (const StorageFault fault :
         {StorageFault::slow, StorageFault::reordered, StorageFault::duplicated,
          StorageFault::stranger, StorageFault::swallowed}) {
        for (const IoKind kind : {IoKind::write, IoKind::sync_data}) {
            for (std::uint64_t n = 0; n < 60; n += 3) {
                const Outcome outcome =
                    run_with({.kind = kind, .after = n, .fault = fault, .amount = 5}, false);
                const bool harmless =
                    fault == StorageFault::slow || fault == StorageFault::reordered;
                if (harmless) {
                    EXPECT_FALSE(outcome.poisoned || outcome.refused);
                }
                const bool wrong =
                    fault == StorageFault::duplicated || fault == StorageFault::stranger;
                if (wrong && outcome.struck) {
                    EXPECT_TRUE(outcome.poisoned || outcome.refused);
                }
                if (wrong && outcome.poisoned) {
                    EXPECT_EQ(outcome.sys_errno, EPROTO);
                }
            }
        }
    }
}

TEST(WalLogFaults, AFailedSyncIsNeverAskedAgain) { // fsyncgate, W14
    disk::Pool pool(4096);
    LogDriver driver(pool);
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    driver.faults.add({.kind = IoKind::sync_data, .fault = StorageFault::fail});
    driver.memory.record_trace(true);

    driver.append(payload_of(2));
    driver.pump(50);

    ASSERT_TRUE(driver.log->poisoned());
    EXPECT_EQ(driver.log->durable(), 1U) << "durable() still answers";
    EXPECT_EQ(driver.read(1, 1).size(), 1U) << "reads still work";
    for (const auto& event : driver.memory.trace())
        EXPECT_NE(to_string(event.request.kind), to_string(IoKind::sync_data));
}

TEST(WalLogFaults, InFlightIsIndeterminateAndNotSubmittedIsFailed) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    driver.options.pipeline_depth = 4;
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    std::array<AppendDone, 4> done{};
    ASSERT_EQ(driver.log->take_done(done), 1U);
    driver.faults.add({.kind = IoKind::write, .fault = StorageFault::fail});
    driver.append(payload_of(2));
    driver.pump();
    driver.append(payload_of(3)); // not handed out before the error arrives
    driver.pump(5);

    ASSERT_EQ(driver.log->take_done(done), 2U);
    EXPECT_EQ(done[0], (AppendDone{2, 2, AppendDone::Outcome::indeterminate}));
    EXPECT_EQ(done[1], (AppendDone{3, 3, AppendDone::Outcome::failed}));
}

TEST(WalLogFaults, AnEarlierSyncsFailureIsNotHiddenByALaterSuccess) {
    disk::Pool pool(4096);
    LogOptions options = small_options();
    options.syncs_max = 2;
    LogDriver driver(pool, {}, options, {.order = MemoryStorageOptions::Order::fifo});
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    driver.faults.add(
        {.kind = IoKind::sync_data, .fault = StorageFault::fail_done, .sys_errno = EIO});
    for (int i = 0; i < 10; ++i) {
        driver.append(payload_of(driver.log->last() + 1, 3000));
        driver.pump();
    }
    EXPECT_TRUE(driver.log->poisoned());
    EXPECT_EQ(driver.log->durable(), 1U);
}

// Group A: one test for each public report that concerns the core.

TEST(WalReports, A1NothingIsEverAppendedBehindWhatDidNotVerify) {
    DamageBase base(4096);
    DamagedImage torn(
        base.pool, base.in_flight([](std::size_t b, auto) { return b == DamageBase::seven; }));
    LogDriver second(base.pool, torn.image, DamageBase::options());
    ASSERT_TRUE(second.open());
    const Lsn added = second.commit();
    ASSERT_EQ(added, base.lsn_next);

    LogDriver third(base.pool, second.crash(), DamageBase::options());
    ASSERT_TRUE(third.open());
    EXPECT_EQ(third.read(added, added).front(), payload_of(added));
    EXPECT_GT(third.log->segments().back().segment, DamageBase::newest)
        << "in a segment of its own";
}

TEST(WalReports, A5A18ASegmentIsUsedOnlyWhenItsNameIsDurable) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    driver.memory.record_trace(true);
    ASSERT_TRUE(driver.open());
    for (int i = 0; i < 60; ++i)
        driver.commit(3000);
    std::set<std::string> named;
    std::set<std::string> durable;
    std::map<std::uint32_t, std::string> files;
    int uses = 0;
    for (const auto& event : driver.memory.trace()) {
        const auto& request = event.request;
        if (event.moment == MemoryStorage::Moment::completed) {
            if (request.kind == IoKind::rename) named.insert(request.new_name);
            if (request.kind == IoKind::sync_dir) durable = named;
            continue;
        }
        if (request.kind == IoKind::create) files[request.file] = request.name;
        if (request.kind == IoKind::rename) {
            for (auto& file : files)
                if (file.second == request.name) file.second = request.new_name;
        }
        const bool frame = request.kind == IoKind::write && files.count(request.file) != 0 &&
                           parse_segment_name(files[request.file]) != 0;
        if (!frame) continue;
        ++uses;
        EXPECT_EQ(durable.count(files[request.file]), 1U) << files[request.file];
    }
    EXPECT_GT(uses, 50);
}

TEST(WalReports, A14ASpareCostsTwoSyncsWhateverItsSize) {
    disk::Pool pool(4096);
    LogDriver driver(pool);
    driver.memory.record_trace(true);
    ASSERT_TRUE(driver.open());
    driver.rest();
    std::uint64_t syncs = 0;
    for (const auto& event : driver.memory.trace()) {
        const IoKind kind = event.request.kind;
        if (event.moment != MemoryStorage::Moment::submitted) continue;
        syncs += kind == IoKind::sync_data || kind == IoKind::sync_dir ? 1 : 0;
    }
    EXPECT_LE(syncs, 2 * driver.log->stats().spares_made + 3) << "and SUPER's";
}

TEST(WalReports, A15AFailedFrameLeavesNothingThatALaterOneFollows) {
    const Outcome outcome = run_with(
        {.kind = IoKind::write, .after = 12, .fault = StorageFault::fail_done, .sys_errno = ENOSPC},
        true);
    EXPECT_TRUE(outcome.poisoned || outcome.acknowledged > 0);
}

TEST(WalReports, A17ATruncationIsALoggedFact) {
    disk::Pool pool(4096);
    LogDriver first(pool);
    ASSERT_TRUE(first.open());
    for (int i = 0; i < 40; ++i)
        first.commit(3000);
    ASSERT_GE(first.log->segments().size(), 3U);
    ASSERT_TRUE(first.log->truncate_suffix(5).has_value());
    const Lsn next = first.commit();

    LogDriver second(pool, first.crash());
    ASSERT_TRUE(second.open()) << second.log->open_error().context;
    EXPECT_EQ(second.log->durable(), next);
    EXPECT_EQ(second.log->voids().front(), (VoidRange{6, next - 1}));
}

TEST(WalReports, A19NoSyncIsSubmittedBeforeEveryByteItCoversIsWritten) {
    disk::Pool pool(4096);
    MemoryStorageOptions storage{.order = MemoryStorageOptions::Order::seeded, .seed = 3};
    LogDriver driver(pool, {}, small_options(), storage);
    ASSERT_TRUE(driver.open());
    driver.memory.observe([&](MemoryStorage::Moment moment, const MemoryStorage::Request&) {
        if (moment != MemoryStorage::Moment::completed) return;
        // Everything acknowledged is in the durable image at any moment.
        const ScanReport report = scan_image(pool, driver.crash());
        EXPECT_GT(report.end.next_lsn, driver.log->durable()) << report.text;
    });
    for (int i = 0; i < 20; ++i)
        driver.append(payload_of(driver.log->last() + 1, 3000));
    EXPECT_TRUE(driver.make_durable());
}

TEST(WalReports, A20ABufferIsNotTouchedBeforeItsAnswer) {
    disk::Pool pool(4096);
    LogDriver driver(pool, {}, small_options(), {});
    ASSERT_TRUE(driver.open());
    driver.commit();
    driver.rest();
    driver.faults.add(
        {.kind = IoKind::write, .count = 4, .fault = StorageFault::slow, .amount = 9});
    // Four slow writes hold four buffers; what is appended meanwhile must go elsewhere.
    for (int i = 0; i < 12; ++i) {
        driver.append(payload_of(driver.log->last() + 1, 3000));
        driver.pump();
    }
    ASSERT_TRUE(driver.make_durable());
    const auto records = driver.read(1, driver.log->last());
    ASSERT_EQ(records.size(), driver.log->last());
    for (Lsn lsn = 2; lsn <= driver.log->last(); ++lsn)
        EXPECT_EQ(records[lsn - 1], payload_of(lsn, 3000));
}

} // namespace
} // namespace promtact::wal::testing
