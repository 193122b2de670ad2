// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Torn tails: what a crash leaves of frames in flight, and which of it may be believed. The numbers
// continue those of damage_test.cpp.
#include <cerrno>
#include <functional>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/wal/explain.hpp>

#include "testing/damage.hpp"
#include "testing/held_storage.hpp"

namespace promtact::wal::testing {
namespace {

constexpr std::size_t seven = DamageBase::seven;
constexpr std::size_t eight = DamageBase::eight;
constexpr std::uint64_t newest = DamageBase::newest;

struct Row {
    int number = 0;
    const char* name = "";
    std::function<bool(std::size_t block, std::size_t sector)> kept{};
    Lsn records_kept = 0; // of F(7), F(8)
    Verdict verdict = Verdict::prefix;
    Refusal refusal = Refusal::none;
    bool ambiguous = false;
};

DamageBase& base(std::uint32_t atom) {
    static DamageBase whole(4096);
    static DamageBase sectors(512);
    return atom == 4096 ? whole : sectors;
}

void judge(const Row& row, std::uint32_t atom) {
    SCOPED_TRACE(std::to_string(row.number) + " " + row.name + ", atom " + std::to_string(atom));
    DamageBase& start = base(atom);

    const disk::Image image = start.in_flight(row.kept);
    const ScanReport report = scan_image(start.pool, image);

    EXPECT_EQ(to_string(report.verdict), to_string(row.verdict)) << report.text;
    EXPECT_EQ(to_string(report.refusal), to_string(row.refusal)) << report.text;
    if (row.verdict != Verdict::refuse) {
        EXPECT_EQ(report.end.next_lsn, start.lsn_next + row.records_kept);
    }
    EXPECT_EQ(report.ambiguous_tail, row.ambiguous);
}

bool in_seven(std::size_t block) {
    return block >= seven && block < eight;
}
bool in_eight(std::size_t block) {
    return block >= eight;
}

TEST(WalTail, OfWholeBlocksEverySubsetIsAPrefix) {
    const std::vector<Row> rows{
        {57, "nothing of F(7)", [](auto, auto) { return false; }, 0, Verdict::ok},
        {58, "only its first block", [](auto b, auto) { return b == seven; }},
        {59, "only its last block", [](auto b, auto) { return b == seven + 2; }, 0, Verdict::ok},
        {60, "all but its first block", [](auto b, auto) { return in_seven(b) && b != seven; }, 0,
         Verdict::ok},
        {61, "F(7) whole, nothing of F(8)", [](auto b, auto) { return in_seven(b); }, 1,
         Verdict::ok},
        {62, "nothing of F(7), F(8) whole", [](auto b, auto) { return in_eight(b); }},
        {63, "a block of F(7) missing, F(8) whole", [](auto b, auto) { return b != seven + 1; }},
        {64, "both whole", [](auto, auto) { return true; }, 2, Verdict::ok},
    };
    for (const Row& row : rows) {
        for (const std::uint32_t atom : {4096U, 512U})
            judge(row, atom);
    }
}

TEST(WalTail, OfSectorsATornBlockIsAPrefixAndSaidToBeAmbiguous) {
    judge(
        {66, "sectors new and old by turns",
         [](auto b, auto s) { return in_seven(b) && s % 2 == 0; }, 0, Verdict::prefix,
         Refusal::none, true},
        512);
    judge(
        {68, "its last written sector missing",
         [](auto b, auto s) { return in_seven(b) && (b != seven + 2 || s != 1); }, 0,
         Verdict::prefix, Refusal::none, true},
        512);
}

TEST(WalTail, WhereBlocksAreWrittenWholeATornOneIsDamage) {
    // 67: the image of 66 on a device that says it never tears a block.
    DamageBase& start = base(4096);
    DamagedImage image(start.pool, start.in_flight([](auto b, auto) { return in_seven(b); }));
    for (std::size_t sector = 1; sector < 8; sector += 2)
        image.copy_sector(10, newest, seven, sector);

    const ScanReport report = scan_image(start.pool, image.image);

    EXPECT_EQ(to_string(report.refusal), to_string(Refusal::corrupt_tail));
    EXPECT_EQ(report.lost_first, start.lsn_next);
}

// A crash leaves a write undone or half done, never somewhere else: nothing vouches for F(7), but
// its blocks lie one further on.
TEST(WalTail, ANewestFrameThatLiesElsewhereIsDamage) {
    DamageBase& start = base(512);
    DamagedImage image(start.pool, start.in_flight([](auto b, auto) { return in_seven(b); }));
    for (std::size_t block = eight; block > seven; --block)
        image.set_block(newest, block, image.block(newest, block - 1));
    image.zero(newest, seven);

    const ScanReport report = scan_image(start.pool, image.image);

    EXPECT_EQ(to_string(report.verdict), to_string(Verdict::refuse)) << report.text;
    EXPECT_EQ(to_string(report.refusal), to_string(Refusal::misdirected));
    EXPECT_EQ(report.block, seven + 1);
    EXPECT_EQ(report.lost_first, start.lsn_next);
    EXPECT_EQ(report.lost_last, start.lsn_next) << "the frame's own record";
}

TEST(WalTail, WhatAnAmbiguousTailMayHaveLostIsSaid) {
    DamageBase& start = base(512);
    const ScanReport report = scan_image(start.pool, start.in_flight([](auto b, auto s) {
        return in_seven(b) && (b != seven + 2 || s != 1);
    }));
    ASSERT_TRUE(report.ambiguous_tail);
    EXPECT_EQ(
        explain(report).lost,
        "nothing that was acknowledged if a crash tore the tail; if it rotted, "
        "at most record " +
            std::to_string(start.lsn_next));
}

TEST(WalTail, AnEarlierUseOfTheFileIsNotDamage) {
    // 65 and A8: what is missing shows frames of another salt.
    DamageBase& start = base(4096);
    DamagedImage image(start.pool, start.in_flight([](auto b, auto) { return b == seven + 1; }));
    for (const std::size_t block : {seven, seven + 2, eight})
        image.set_block(newest, block, image.block(8, block));

    const ScanReport report = scan_image(start.pool, image.image);

    EXPECT_NE(to_string(report.verdict), to_string(Verdict::refuse)) << report.text;
    EXPECT_EQ(report.end.next_lsn, start.lsn_next);
    EXPECT_FALSE(report.tail_zero);
}

TEST(WalTail, ATornRotationKeepsEverythingBefore) {
    DamageBase whole(4096);
    const Lsn before = whole.driver.log->last();
    const disk::Image none = whole.rotating([](auto) { return false; });
    const Lsn sealed = whole.driver.log->last() - 1;
    const disk::Image header = whole.rotating([](std::size_t block) { return block == 0; });
    const disk::Image frame = whole.rotating([](std::size_t block) { return block != 0; });
    EXPECT_GT(sealed, before);
    for (const disk::Image& image : {none, header, frame}) {
        // 21 and 22: the header alone is legal; a frame without it never counts.
        const ScanReport report = scan_image(whole.pool, image);
        EXPECT_NE(to_string(report.verdict), to_string(Verdict::refuse)) << report.text;
        EXPECT_EQ(report.end.next_lsn, sealed + 1);
        LogDriver again(whole.pool, image, DamageBase::options());
        ASSERT_TRUE(again.open()) << again.log->open_error().context;
        EXPECT_EQ(again.commit(9000), sealed + 1);
        EXPECT_EQ(scan_image(whole.pool, again.crash()).end.next_lsn, sealed + 2);
    }
}

TEST(WalTail, AReadErrorIsNeverTheEndOfTheLog) {
    // 55, W5, SD02: at every read of the scan.
    DamageBase& start = base(4096);
    for (const IoKind kind : {IoKind::read, IoKind::open, IoKind::list}) {
        for (std::uint64_t n = 0; n < 64; ++n) {
            MemoryStorage memory(start.pool, start.quiet, {});
            FaultStorage faults(memory, 1);
            faults.add({.kind = kind, .after = n, .fault = StorageFault::fail});
            LogScan scan(faults, {.chunk_bytes = 8 * block_bytes});
            scan.run();
            if (faults.struck(0) == 0) break;
            EXPECT_EQ(to_string(scan.report().refusal), to_string(Refusal::io));
            EXPECT_EQ(scan.report().sys_errno, EIO);
            LogDriver driver(start.pool, start.quiet, DamageBase::options());
            driver.faults.add({.kind = kind, .after = n, .fault = StorageFault::fail});
            const std::uint64_t before = driver.memory.model().pending().size();
            if (!driver.open()) {
                EXPECT_EQ(driver.memory.model().pending().size(), before) << "nothing changed";
            }
        }
    }
}

TEST(WalTail, WhatMayNotBeReadIsDeniedAndNotDamage) {
    DamageBase& start = base(4096);
    for (const int sys_errno : {EACCES, EPERM}) {
        for (const IoKind kind : {IoKind::read, IoKind::open, IoKind::list}) {
            MemoryStorage memory(start.pool, start.quiet, {});
            FaultStorage faults(memory, 1);
            faults.add({.kind = kind, .fault = StorageFault::fail, .sys_errno = sys_errno});
            LogScan scan(faults, {});
            scan.run();
            const ScanReport& report = scan.report();
            EXPECT_EQ(to_string(report.refusal), to_string(Refusal::denied)) << to_string(kind);
            EXPECT_EQ(errc_of(report.refusal), Errc::denied);
            EXPECT_EQ(report.sys_errno, sys_errno);
            LogDriver driver(start.pool, start.quiet, DamageBase::options());
            driver.faults.add({.kind = kind, .fault = StorageFault::fail, .sys_errno = sys_errno});
            EXPECT_FALSE(driver.open());
            EXPECT_EQ(driver.log->open_error().code, Errc::denied);
        }
    }
}

/// A scan of `start` that waits for all reads of the first segment.
class HeldScan {
  public:
    explicit HeldScan(DamageBase& start)
        : memory(start.pool, start.quiet, {}), storage(memory),
          scan(storage, {.chunk_bytes = 2 * block_bytes}) {
        scan.step();
        while (storage.held().size() == 1) { // lists, opens and SUPER come one at a time
            storage.answer(0);
            scan.step();
        }
    }
    MemoryStorage memory;
    HeldStorage storage;
    LogScan scan;
};

TEST(WalTail, AScanEndsOnlyWhenNoReadWritesIntoItsBufferAnyMore) {
    HeldScan held(base(4096));
    const std::size_t reads = held.storage.held().size();
    ASSERT_GE(reads, 3U);
    held.storage.answer_with(1, -EIO);
    held.scan.step();
    EXPECT_EQ(to_string(held.scan.report().refusal), to_string(Refusal::io));
    for (std::size_t left = reads - 1; left > 0; --left) {
        EXPECT_FALSE(held.scan.finished()) << left << " reads are still under way";
        held.storage.answer(left - 1);
        held.scan.step();
    }
    EXPECT_TRUE(held.scan.finished());
    EXPECT_EQ(held.scan.report().sys_errno, EIO);
}

TEST(WalTail, TheVerdictIsTheSameInWhateverOrderReadsArrive) {
    DamageBase& start = base(4096);
    for (std::uint64_t order = 0; order < 32; ++order) {
        HeldScan held(start);
        for (std::uint64_t n = 0; !held.scan.finished(); ++n) {
            ASSERT_FALSE(held.storage.held().empty());
            const auto bits = promtact_choose(order, PROMTACT_PURPOSE_WORKLOAD, 0, n);
            held.storage.answer(
                promtact_bounded(bits, static_cast<std::uint32_t>(held.storage.held().size())));
            held.scan.step();
        }
        const ScanReport expected = scan_image(start.pool, start.quiet);
        EXPECT_EQ(to_string(held.scan.report().verdict), to_string(expected.verdict));
        EXPECT_EQ(held.scan.report().end, expected.end) << "order " << order;
        ASSERT_EQ(held.scan.report().segments.size(), expected.segments.size());
        for (std::size_t i = 0; i < expected.segments.size(); ++i)
            EXPECT_EQ(held.scan.report().segments[i].frames, expected.segments[i].frames);
    }
}

/// Says that one name is a link, which the storage in memory has none of.
class LinkStorage final : public Storage {
  public:
    LinkStorage(Storage& inner, std::string name) : inner_(&inner), name_(std::move(name)) {}
    [[nodiscard]] StorageLimits limits() const override { return inner_->limits(); }
    [[nodiscard]] bool submit(const IoOp& op) override {
        if (op.kind == IoKind::list) listing_ = op.data;
        return inner_->submit(op);
    }
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override {
        const std::size_t count = inner_->poll(done);
        const std::string_view text = text_of(listing_);
        const std::size_t at = text.find(name_);
        if (count > 0 && at != std::string_view::npos) {
            listing_[at - 1] = static_cast<std::byte>(DirectoryEntry::other);
        }
        return count;
    }
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t) override {
        return poll(done);
    }

  private:
    Storage* inner_;
    std::string name_;
    std::span<std::byte> listing_{};
};

TEST(WalTail, ALinkIsNeverFollowed) {
    DamageBase& start = base(4096);
    for (const std::string& name : {segment_name(newest), std::string("SUPER")}) {
        MemoryStorage memory(start.pool, start.quiet, {});
        LinkStorage links(memory, name);
        LogScan scan(links, {});
        scan.run();
        EXPECT_EQ(to_string(scan.report().refusal), to_string(Refusal::not_regular)); // 79
    }
}

TEST(WalTail, TheReportNamesWhatMayBeLost) {
    DamageBase& start = base(4096);
    DamagedImage image(start.pool, start.quiet);
    image.flip(newest, DamageBase::block_of(2) + 1, 5);

    const ScanReport report = scan_image(start.pool, image.image);

    EXPECT_EQ(report.segment, newest);
    EXPECT_EQ(report.block, DamageBase::block_of(2));
    EXPECT_EQ(report.lost_first, start.lsn_next - 5);
    EXPECT_EQ(report.lost_last, start.lsn_next - 1);
}

} // namespace
} // namespace promtact::wal::testing
