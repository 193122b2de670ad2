// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One row of the damage table, and its judge.
#pragma once

#include <functional>

#include <gtest/gtest.h>

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

inline void judge(const DamageRow& row) {
    SCOPED_TRACE(std::to_string(row.number) + " " + row.name);
    DamageBase& start = damage_base(row.atom);
    Image image(start.pool, row.from == From::quiet ? start.quiet : start.just_acked);
    row.mutate(image);

    const ScanReport report = scan_image(start.pool, image.image, {.strict = row.strict});

    EXPECT_EQ(to_string(report.verdict), to_string(row.verdict)) << report.text;
    EXPECT_EQ(to_string(report.refusal), to_string(row.refusal)) << report.text;
    EXPECT_EQ(report.ambiguous_tail, row.ambiguous);
    EXPECT_FALSE(report.text.empty());
    if (row.verdict == Verdict::ok) {
        EXPECT_EQ(report.end.next_lsn, start.lsn_next) << "all records";
    }
}

inline void judge_all(const std::vector<DamageRow>& rows) {
    for (const DamageRow& row : rows)
        judge(row);
}

} // namespace promtact::wal::testing
