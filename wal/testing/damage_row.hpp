// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One row of the damage table, and its judge.
#pragma once

#include <functional>

#include <gtest/gtest.h>

#include <promtact/wal/explain.hpp>

#include "allocation_peak.hpp"
#include "damage.hpp"

namespace promtact::wal::testing {

using Image = DamagedImage;
inline constexpr std::uint64_t newest = DamageBase::newest;
inline constexpr auto at = DamageBase::block_of;

enum class From : std::uint8_t { quiet, just_acked };

struct DamageRow {
    int number = 0;
    const char* name = "";
    std::function<void(Image&)> mutate{};
    Verdict verdict = Verdict::refuse;
    Refusal refusal = Refusal::none;
    From from = From::quiet;
    std::uint32_t atom = 4096;
    bool strict = false;
    bool ambiguous = false;
};

inline DamageBase& damage_base(std::uint32_t atom) {
    static DamageBase whole(4096);
    static DamageBase sectors(512);
    return atom == 4096 ? whole : sectors;
}

/// The words a person is given: what was refused, where, by which rule, what is lost at most.
inline void expect_words(const ScanReport& report) {
    const Explanation words = explain(report);
    EXPECT_FALSE(words.why.empty());
    EXPECT_FALSE(words.lost.empty());
    if (report.verdict != Verdict::refuse) {
        EXPECT_TRUE(words.lost.starts_with("nothing")) << words.lost;
        EXPECT_EQ(words.repair, RepairCase::none);
        return;
    }
    EXPECT_EQ(words.verdict, "refused: " + std::string(to_string(report.refusal)));
    EXPECT_TRUE(words.rule.starts_with(std::string(report.rule) + ": ")) << words.rule;
    EXPECT_GT(words.rule.size(), 10U);
    EXPECT_TRUE(words.where.starts_with(place_of(report))) << words.where;
    EXPECT_FALSE(words.helps.empty());
    if (report.segment != 0 && report.block != 0) {
        const std::string block = ", block " + std::to_string(report.block) + " (byte ";
        EXPECT_NE(words.where.find(block), std::string::npos) << words.where;
    }
    if (words.repair == RepairCase::truncate_at) {
        const std::string lost = "every record from " + std::to_string(report.end.next_lsn);
        EXPECT_TRUE(words.lost.starts_with(lost)) << words.lost;
        const std::string flag = "-truncate-at " + std::to_string(report.end.next_lsn);
        EXPECT_NE(words.helps.find(flag), std::string::npos) << words.helps;
    }
}

inline void judge(const DamageRow& row) {
    SCOPED_TRACE(std::to_string(row.number) + " " + row.name);
    DamageBase& start = damage_base(row.atom);
    Image image(start.pool, row.from == From::quiet ? start.quiet : start.just_acked);
    row.mutate(image);

    const AllocationPeak peak;
    const ScanReport report = scan_image(start.pool, image.image, {.strict = row.strict});
    std::uint64_t largest = 0;
    for (const disk::Image::Link& link : image.image.links)
        largest = std::max(largest, image.image.files[link.inode].size);
    EXPECT_LE(peak.bytes(), largest + (1U << 20)) << "the storage's copies included";

    EXPECT_EQ(to_string(report.verdict), to_string(row.verdict)) << report.text;
    EXPECT_EQ(to_string(report.refusal), to_string(row.refusal)) << report.text;
    EXPECT_EQ(report.ambiguous_tail, row.ambiguous);
    expect_words(report);
    if (row.verdict == Verdict::ok) {
        EXPECT_EQ(report.end.next_lsn, start.lsn_next) << "all records";
    }
}

inline void judge_all(const std::vector<DamageRow>& rows) {
    for (const DamageRow& row : rows)
        judge(row);
}

} // namespace promtact::wal::testing
