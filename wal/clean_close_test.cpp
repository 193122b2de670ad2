// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log closed cleanly in a file that was used before: what lies behind its end is old, and only
// what a clean close does not explain is suspicious.
#include <gtest/gtest.h>

#include <promtact/base/crash_images.hpp>

#include "testing/damage.hpp"

namespace promtact::wal::testing {
namespace {

/// A log whose newest segment is a recycled file full of old frames of three blocks, and in which
/// frames of one block were written since: its end lies inside an old frame.
class WalCleanClose : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(driver.open());
        for (int i = 0; i < 400 && !in_recycled(); ++i) {
            ASSERT_NE(driver.commit(9000), 0U);
            if (i % 8 == 7) {
                ASSERT_TRUE(driver.log->release_prefix(driver.log->last()).has_value());
            }
            driver.pump(100);
        }
        ASSERT_TRUE(in_recycled());
        ASSERT_NE(driver.commit(100), 0U);
        driver.rest();
    }
    [[nodiscard]] bool in_recycled() const {
        return driver.log->segments().back().recycled && driver.log->stats().spares_recycled > 2;
    }
    static LogOptions options() {
        LogOptions made = small_options();
        made.segment_bytes = 32 * block_bytes;
        return made;
    }
    [[nodiscard]] ScanReport scan(const disk::Image& image, bool strict = false) {
        return scan_image(pool, image, {.strict = strict});
    }

    disk::Pool pool{4096};
    LogDriver driver{pool, {}, options()};
};

TEST_F(WalCleanClose, WhatFollowsInARecycledFileIsStale) {
    const Lsn next = driver.log->last() + 1;
    const ScanReport open = scan(driver.crash(true));
    EXPECT_TRUE(open.ambiguous_tail) << "the control: before the close nothing explains it";
    ASSERT_TRUE(driver.close());

    for (const bool strict : {false, true}) {
        const ScanReport report = scan(driver.crash(), strict);
        EXPECT_EQ(to_string(report.verdict), to_string(Verdict::ok)) << report.text;
        EXPECT_TRUE(report.closed);
        EXPECT_FALSE(report.ambiguous_tail);
        EXPECT_FALSE(report.tail_zero);
        EXPECT_EQ(report.end.next_lsn, next);
    }
}

TEST_F(WalCleanClose, WithADamagedSlotNothingIsTakenForStale) {
    ASSERT_TRUE(driver.close());
    DamagedImage image(pool, driver.crash());
    const std::uint64_t slot = (scan(image.image).super->generation + 1) % super_slots;
    DamagedImage::Block bytes = image.read("SUPER", slot);
    bytes[100] ^= std::byte{1};
    image.write("SUPER", slot, bytes);

    const ScanReport report = scan(image.image);

    EXPECT_EQ(report.slots_damaged, 1U);
    EXPECT_FALSE(report.closed);
    EXPECT_TRUE(report.ambiguous_tail);
}

// A slot that was written where another belongs is damage, too: what belonged there is not known.
TEST_F(WalCleanClose, WithAMisplacedSlotNothingIsTakenForStale) {
    ASSERT_TRUE(driver.close());
    DamagedImage image(pool, driver.crash());
    const std::uint64_t newest = scan(image.image).super->generation;
    image.write(
        "SUPER", (newest + 1) % super_slots, image.read("SUPER", (newest + 2) % super_slots));

    const ScanReport report = scan(image.image);

    EXPECT_EQ(report.slots_damaged, 1U);
    EXPECT_FALSE(report.closed);
    EXPECT_TRUE(report.ambiguous_tail);
}

TEST_F(WalCleanClose, AnEndThatIsNotTheOneFoundIsStillDamage) {
    ASSERT_TRUE(driver.close());
    const ScanReport before = scan(driver.crash());
    DamagedImage image(pool, driver.crash());
    image.flip(before.end.segment, before.segments.back().end_block - 2, 70); // a watermark is last

    const ScanReport report = scan(image.image);

    EXPECT_EQ(to_string(report.refusal), to_string(Refusal::corrupt)) << report.text;
}

TEST_F(WalCleanClose, ItIsContinuedInPlaceAndEveryCrashKeepsWhatWasAcknowledged) {
    ASSERT_TRUE(driver.close());
    const std::size_t segments = driver.log->segments().size();
    LogDriver again(pool, driver.crash(), options());
    ASSERT_TRUE(again.open()) << again.log->open_error().context;
    EXPECT_EQ(again.log->segments().size(), segments) << "no segment is spent on a clean open";
    EXPECT_FALSE(scan(again.crash()).super->clean) << "it says so before anything is appended";
    for (int i = 0; i < 3; ++i) {
        const Lsn lsn = again.commit(100);
        ASSERT_NE(lsn, 0U);
        for (const bool keep_all : {false, true}) {
            const ScanReport report = scan(again.crash(keep_all));
            EXPECT_NE(to_string(report.verdict), to_string(Verdict::refuse)) << report.text;
            EXPECT_EQ(report.end.next_lsn, lsn + 1);
        }
    }
    const Lsn first = again.log->first_live();
    EXPECT_EQ(again.read(first, again.log->last()).size(), again.log->last() - first + 1);
}

/// At every moment of opening it and appending, from every image that a crash may leave.
TEST_F(WalCleanClose, EveryImageOfACrashWhileItIsContinuedKeepsWhatWasAcknowledged) {
    ASSERT_TRUE(driver.close());
    LogDriver again(pool, driver.crash(), options());
    Lsn acknowledged = driver.log->last();
    std::uint64_t images = 0;
    bool checking = false;
    again.memory.observe([&](MemoryStorage::Moment, const MemoryStorage::Request& request) {
        const bool looks = request.kind == IoKind::read || request.kind == IoKind::open ||
                           request.kind == IoKind::list;
        if (checking || looks) return;
        checking = true;
        const disk::CrashOptions few{.exhaustive_max = 6, .pairs_max = 0, .random = 16};
        disk::crash_images(again.memory.model(), few, [&](const disk::Image& image) {
            ++images;
            LogDriver third(pool, image, options());
            ASSERT_TRUE(third.open()) << third.log->open_error().context;
            EXPECT_GE(third.log->last(), acknowledged);
            const Lsn next = third.log->last() + 1;
            EXPECT_EQ(third.commit(100), next);
            const Lsn first = third.log->first_live();
            EXPECT_EQ(third.read(first, next).size(), next - first + 1);
        });
        checking = false;
    });
    ASSERT_TRUE(again.open());
    for (const std::size_t bytes : {100U, 9000U, 100U, 5000U}) {
        again.append(payload_of(again.log->last() + 1, bytes));
        again.pump(4);
        acknowledged = again.log->durable();
    }
    EXPECT_GT(acknowledged, driver.log->last() + 2);
    EXPECT_GT(images, 50U);
}

} // namespace
} // namespace promtact::wal::testing
