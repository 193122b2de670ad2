// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The words for single cases, to the letter; every row of the damage table is held to their shape
// where it is judged.
#include <gtest/gtest.h>

#include <promtact/wal/explain.hpp>

#include "testing/damage_row.hpp"

namespace promtact::wal::testing {
namespace {

Explanation explain_after(
    const std::function<void(Image&)>& mutate, From from = From::quiet, std::uint32_t atom = 4096,
    bool strict = false) {
    DamageBase& base = damage_base(atom);
    Image image(base.pool, from == From::quiet ? base.quiet : base.just_acked);
    mutate(image);
    return explain(scan_image(base.pool, image.image, {.strict = strict}));
}

std::string lsn(Lsn below_next) {
    return std::to_string(damage_base(4096).lsn_next - below_next);
}

TEST(WalExplain, ADamagedBlockIsNamedWithItsRuleAndWhatIsLost) {
    const Explanation words = explain_after([](Image& i) { i.flip(newest, at(2) + 1, 77); });

    EXPECT_EQ(words.verdict, "refused: corrupt");
    EXPECT_EQ(words.where, "wal-0000000000000009.seg, block 4 (byte 16384)");
    EXPECT_EQ(words.rule, "R5: what lies behind the last frame must be what a crash may leave");
    EXPECT_EQ(words.why, "a later frame vouches that LSN " + lsn(5) + " was acknowledged");
    EXPECT_EQ(
        words.lost,
        "every record from " + lsn(5) + " on; the highest of which there is a trace is " + lsn(1));
    EXPECT_NE(words.helps.find("-truncate-at " + lsn(5)), std::string::npos);
    EXPECT_EQ(words.code, Errc::corrupt);
}

TEST(WalExplain, AMissingSegmentIsNamedThoughItIsNotThere) {
    const Explanation words = explain_after([](Image& i) { i.remove(segment_name(8)); });

    EXPECT_EQ(words.verdict, "refused: missing segment");
    EXPECT_EQ(words.where, "wal-0000000000000008.seg");
    EXPECT_EQ(words.why, "a live segment's file is not there");
}

TEST(WalExplain, ATornTailLostNothingThatWasPromised) {
    const Explanation words =
        explain_after([](Image& i) { i.flip(newest, at(6), 0); }, From::just_acked, 512);

    EXPECT_EQ(words.verdict, "prefix");
    EXPECT_TRUE(words.lost.starts_with("nothing that was acknowledged")) << words.lost;
    EXPECT_NE(words.why.find("rot in the newest records would look the same"), std::string::npos);
    EXPECT_EQ(words.repair, RepairCase::none);
}

TEST(WalExplain, EachRefusalNamesTheRepairThatFitsIt) {
    EXPECT_EQ(explain_after([](Image& i) { i.remove("SUPER"); }).repair, RepairCase::rebuild_super);
    EXPECT_EQ(
        explain_after([](Image& i) { i.flip(newest, at(6), 0); }, From::just_acked).repair,
        RepairCase::drop_tail);
    EXPECT_EQ(explain_after([](Image& i) { i.flip(8, at(3), 0); }).repair, RepairCase::truncate_at);
    EXPECT_EQ(explain_after([](Image& i) { i.flip(7, 0, 100); }).repair, RepairCase::salvage);
    EXPECT_EQ(explain_after([](Image&) {}).repair, RepairCase::none);
}

TEST(WalExplain, ASoundLogNeedsNothing) {
    const Explanation words = explain_after([](Image&) {});

    EXPECT_EQ(words.verdict, "ok");
    EXPECT_EQ(words.lost, "nothing");
    EXPECT_TRUE(words.helps.empty());
    EXPECT_TRUE(words.where.empty());
}

} // namespace
} // namespace promtact::wal::testing
