// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <gtest/gtest.h>

#include <promtact/base/crash_images.hpp>
#include <promtact/wal/repair.hpp>

#include "testing/damage_row.hpp"

namespace promtact::wal::testing {
namespace {

/// A damaged log, the consent that mends it, and how many records stand afterwards.
struct Mending {
    const char* name = "";
    std::function<void(Image&)> damage{};
    RepairCase which = RepairCase::truncate_at;
    Lsn given_up = 0; // of the newest, counted from the end
    From from = From::quiet;
};

std::vector<Mending> mendings() {
    using Case = RepairCase;
    return {
        {"a bit in F(2)", [](Image& i) { i.flip(newest, at(2) + 1, 77); }, Case::truncate_at, 5},
        {"the newest segment's header", [](Image& i) { i.zero(newest, 0); }, Case::truncate_at, 6},
        {"the newest segment gone", [](Image& i) { i.remove(segment_name(newest)); },
         Case::truncate_at, 6},
        {"a frame of segment 8", [](Image& i) { i.flip(8, at(4), 3); }, Case::truncate_at, 13},
        {"segment 8 cut short", [](Image& i) { i.segment(8).set_size(28 * block_bytes, *i.pool); },
         Case::truncate_at, 15},
        {"an old segment as the spare", [](Image& i) { i.segment(10) = i.segment(7); },
         Case::truncate_at, 0},
        {"the last frame, no watermark", [](Image& i) { i.flip(newest, at(6), 0); },
         Case::drop_tail, 1, From::just_acked},
        {"SUPER gone", [](Image& i) { i.remove("SUPER"); }, Case::rebuild_super, 0},
        {"every slot of SUPER",
         [](Image& i) {
             for (std::size_t slot = 0; slot < super_slots; ++slot) {
                 Image::Block bytes = i.read("SUPER", slot);
                 bytes[100] ^= std::byte{1};
                 i.write("SUPER", slot, bytes);
             }
         },
         Case::rebuild_super, 0},
    };
}

disk::Image damaged(DamageBase& base, const Mending& mending) {
    Image image(base.pool, mending.from == From::quiet ? base.quiet : base.just_acked);
    mending.damage(image);
    return image.image;
}

RepairConsent consent_to(const RepairPlan& plan) {
    RepairConsent consent;
    consent.drop_tail = plan.which == RepairCase::drop_tail;
    consent.rebuild_super = plan.which == RepairCase::rebuild_super;
    if (plan.which == RepairCase::truncate_at) consent.truncate_at = plan.lost_first;
    return consent;
}

/// Content hashes of all files, names aside.
std::multiset<std::vector<disk::AtomId>> contents(const disk::Image& image) {
    std::multiset<std::vector<disk::AtomId>> all;
    for (const disk::Image::Link& link : image.links) {
        const disk::FileImage& file = image.files[link.inode];
        std::vector<disk::AtomId> atoms{static_cast<disk::AtomId>(file.size)};
        for (std::size_t i = 0; i < file.size / 4096; ++i)
            atoms.push_back(file.atom(i));
        all.insert(std::move(atoms));
    }
    return all;
}

void expect_mended(DamageBase& base, const disk::Image& image, Lsn last) {
    const ScanReport report = scan_image(base.pool, image);
    ASSERT_NE(to_string(report.verdict), to_string(Verdict::refuse)) << report.text;
    ASSERT_EQ(report.end.next_lsn, last + 1);
    LogDriver driver(base.pool, image, DamageBase::options());
    ASSERT_TRUE(driver.open()) << driver.log->open_error().context;
    const Lsn first = driver.log->first_live();
    EXPECT_EQ(driver.read(first, last).size(), last - first + 1);
    EXPECT_EQ(driver.commit(9000), last + 1);
    EXPECT_EQ(scan_image(base.pool, driver.crash()).end.next_lsn, last + 2);
}

TEST(WalRepair, EveryCaseMendsWithItsFlagAndKeepsTheEvidence) {
    for (const Mending& mending : mendings()) {
        SCOPED_TRACE(mending.name);
        DamageBase& base = damage_base(4096);
        const disk::Image start = damaged(base, mending);
        MemoryStorage memory(base.pool, start, {});
        const auto plan = plan_repair(memory, false);
        ASSERT_TRUE(plan.has_value());
        ASSERT_EQ(to_string(plan->which), to_string(mending.which)) << plan->report.text;
        ASSERT_EQ(plan->refusal, "");
        EXPECT_FALSE(plan->steps().empty());
        if (mending.which != RepairCase::rebuild_super) {
            EXPECT_EQ(plan->lost_first, base.lsn_next - mending.given_up);
        }

        const auto done = repair(memory, *plan, consent_to(*plan));

        ASSERT_TRUE(done.has_value()) << done.error().context;
        const disk::Image& after = memory.model().durable();
        expect_mended(base, after, base.lsn_next - 1 - mending.given_up);
        const auto before_all = contents(start);
        const auto after_all = contents(after);
        for (const auto& content : before_all)
            EXPECT_TRUE(after_all.contains(content)) << "a file's old content is kept";
    }
}

TEST(WalRepair, LookingAndRefusingWriteNothing) {
    for (const Mending& mending : mendings()) {
        SCOPED_TRACE(mending.name);
        DamageBase& base = damage_base(4096);
        MemoryStorage memory(base.pool, damaged(base, mending), {});
        std::uint64_t writes = 0;
        memory.observe([&](MemoryStorage::Moment, const MemoryStorage::Request& request) {
            const bool looks = request.kind == IoKind::read || request.kind == IoKind::open ||
                               request.kind == IoKind::list;
            writes += looks ? 0 : 1;
        });
        const auto plan = plan_repair(memory, false);
        ASSERT_TRUE(plan.has_value());
        RepairConsent wrong = consent_to(*plan);
        if (wrong.truncate_at) {
            wrong.truncate_at = *wrong.truncate_at + 1;
        } else {
            wrong = {.truncate_at = plan->lost_first};
        }

        const auto without = repair(memory, *plan, {});
        const auto other = repair(memory, *plan, wrong);

        EXPECT_EQ(without.error().code, Errc::refused);
        EXPECT_EQ(other.error().code, Errc::refused);
        EXPECT_EQ(writes, 0U);
        ASSERT_TRUE(repair(memory, *plan, consent_to(*plan)).has_value());
        EXPECT_GT(writes, 10U) << "the control: a repair is seen";
    }
}

/// From every image a crash during the repair may leave: refused as before or mended, never opened
/// with other records; and repairing again with the same consent mends it.
TEST(WalRepair, ACrashAtAnyStepLeavesALogThatTheSameRepairMends) {
    std::uint64_t images = 0;
    std::uint64_t mended = 0;
    for (const Mending& mending : mendings()) {
        SCOPED_TRACE(mending.name);
        DamageBase& base = damage_base(4096);
        const Lsn last = base.lsn_next - 1 - mending.given_up;
        const disk::Image start = damaged(base, mending);
        const auto before_all = contents(start);
        MemoryStorage memory(base.pool, start, {});
        const auto plan = plan_repair(memory, false);
        ASSERT_TRUE(plan.has_value());
        const RepairConsent consent = consent_to(*plan);
        disk::ImageHasher hasher;
        std::set<std::uint64_t> seen; // by the low half of the hash
        const auto check = [&](const disk::Image& image) {
            if (!seen.insert(hasher(image, base.pool).low).second) return;
            ++images;
            const ScanReport found = scan_image(base.pool, image);
            if (found.verdict != Verdict::refuse) {
                ++mended;
                EXPECT_EQ(found.end.next_lsn, last + 1);
            }
            MemoryStorage again(base.pool, image, {});
            const auto second = plan_repair(again, false);
            ASSERT_TRUE(second.has_value());
            const auto done = repair(again, *second, consent);
            ASSERT_TRUE(done.has_value()) << done.error().context << "; " << second->report.text;
            const disk::Image& after = again.model().durable();
            const ScanReport report = scan_image(base.pool, after);
            EXPECT_NE(to_string(report.verdict), to_string(Verdict::refuse)) << report.text;
            EXPECT_EQ(report.end.next_lsn, last + 1);
            const auto after_all = contents(after);
            for (const auto& content : before_all)
                EXPECT_TRUE(after_all.contains(content));
            if (images % 16 == 0) expect_mended(base, after, last);
        };
        bool checking = false;
        memory.observe([&](MemoryStorage::Moment, const MemoryStorage::Request& request) {
            const bool looks = request.kind == IoKind::read || request.kind == IoKind::open ||
                               request.kind == IoKind::list;
            if (checking || looks || HasFatalFailure()) return;
            checking = true;
            const disk::CrashOptions few{.exhaustive_max = 8, .pairs_max = 0, .random = 64};
            disk::crash_images(memory.model(), few, check);
            checking = false;
        });
        ASSERT_TRUE(repair(memory, *plan, consent).has_value());
    }
    EXPECT_GT(images, 500U);
    EXPECT_GT(mended, 8U);
}

TEST(WalRepair, WhatNoRepairMendsIsRefusedInWords) {
    struct Hopeless {
        const char* words = "";
        std::function<void(Image&)> damage{};
    };
    const std::vector<Hopeless> rows{
        {"nothing in place can be mended", [](Image& i) { i.flip(7, 0, 100); }},
        {"use the version",
         [](Image& i) {
             i.edit_header(
                 newest, [](auto b) { store_le<std::uint16_t>(b, SegmentLayout::major, 5); });
         }},
        {"are missing, and no fence",
         [](Image& i) {
             i.remove("SUPER");
             i.remove(segment_name(7));
             i.remove(segment_name(8));
         }},
        {"nothing says what SUPER said",
         [](Image& i) {
             i.remove("SUPER");
             for (const std::uint64_t id : {7U, 8U, 9U})
                 i.flip(id, 0, 100);
         }},
    };
    for (const Hopeless& row : rows) {
        DamageBase& base = damage_base(4096);
        Image image(base.pool, base.quiet);
        row.damage(image);
        MemoryStorage memory(base.pool, image.image, {});
        const auto plan = plan_repair(memory, false);
        ASSERT_TRUE(plan.has_value());
        const RepairConsent all{
            .drop_tail = true, .truncate_at = plan->lost_first, .rebuild_super = true};

        const auto done = repair(memory, *plan, all);

        ASSERT_FALSE(done.has_value()) << row.words;
        EXPECT_NE(done.error().context.find(row.words), std::string::npos) << done.error().context;
        EXPECT_TRUE(memory.model().pending().empty());
    }
}

} // namespace
} // namespace promtact::wal::testing
