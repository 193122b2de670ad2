// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The words for single cases, to the letter; every row of the damage table is held to their shape
// where it is judged.
#include <cerrno>

#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>
#include <promtact/wal/explain.hpp>

#include "test_paths.hpp"
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

TEST(WalExplain, ADeniedLogIsNotDamagedAndSaysWhichRightHelps) {
    const Explanation words = explain(
        {.verdict = Verdict::refuse,
         .refusal = Refusal::denied,
         .sys_errno = EACCES,
         .rule = "R3",
         .text = "this user may not read it",
         .segment = 9});

    EXPECT_EQ(words.verdict, "refused: denied");
    EXPECT_EQ(words.code, Errc::denied);
    EXPECT_EQ(words.repair, RepairCase::none);
    EXPECT_NE(words.why.find("EACCES"), std::string::npos);
    EXPECT_TRUE(words.lost.starts_with("nothing is known to be lost"));
    EXPECT_NE(words.helps.find("let this user read wal-0000000000000009.seg"), std::string::npos);
}

/// All words of an enum, from its first value on.
template <class Enum>
std::vector<std::string> words_of() {
    std::vector<std::string> words;
    for (std::uint8_t i = 0; to_string(static_cast<Enum>(i)) != "unknown"; ++i)
        words.emplace_back(to_string(static_cast<Enum>(i)));
    return words;
}

/// Those that have no row "| `word` |" of their own.
std::vector<std::string>
missing_from(const std::string& page, const std::vector<std::string>& words) {
    std::vector<std::string> missing;
    for (const std::string& word : words)
        if (page.find("| `" + word + "` |") == std::string::npos) missing.push_back(word);
    return missing;
}

TEST(WalExplain, EveryWordOfTheJsonOutputsIsInTheReadme) {
    const auto page = read_text_file(test_source_path("wal/README.md"), Bytes{1U << 16U});
    ASSERT_TRUE(page.has_value());
    const auto section = [&](const std::string& field) {
        const std::size_t begin = page->find("| `" + field + "` | ");
        if (begin == std::string::npos) return std::string();
        return page->substr(begin, page->find("\n\n", begin) - begin);
    };
    using Words = std::vector<std::string>;
    EXPECT_EQ(words_of<Verdict>().size(), 4U);
    EXPECT_EQ(words_of<Refusal>().size(), 15U);
    EXPECT_EQ(words_of<RepairCase>().size(), 5U);
    EXPECT_EQ(missing_from(section("verdict"), words_of<Verdict>()), Words{});
    EXPECT_EQ(missing_from(section("refusal"), words_of<Refusal>()), Words{});
    EXPECT_EQ(missing_from(section("repair`, `case"), words_of<RepairCase>()), Words{});
    EXPECT_EQ(missing_from(section("verdict"), {"no such word"}), Words{"no such word"})
        << "the control";
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
