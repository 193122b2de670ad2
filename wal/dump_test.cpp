// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/json_reader.hpp>
#include <promtact/wal/dump.hpp>

#include "testing/damage_row.hpp"

namespace promtact::wal::testing {
namespace {

struct Dump {
    std::string text{};
    ScanReport report{};
};

Dump dump(const disk::Image& image, const DumpOptions& options) {
    MemoryStorage memory(damage_base(4096).pool, image, {});
    Dump shown;
    const auto done = dump_log(memory, options, [&](std::string_view text) -> Result<void> {
        shown.text += text;
        return {};
    });
    EXPECT_TRUE(done.has_value());
    if (done) shown.report = *done;
    return shown;
}

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
        ++found;
    return found;
}

TEST(WalDump, ShowsEverySegmentFrameAndRecordThatStands) {
    DamageBase& base = damage_base(4096);
    const Dump shown = dump(base.quiet, {.records = true});

    EXPECT_EQ(count(shown.text, "segment 7 salt"), 1U);
    EXPECT_EQ(count(shown.text, "segment 9 salt"), 1U);
    EXPECT_EQ(count(shown.text, " seal "), 2U);
    EXPECT_EQ(count(shown.text, " fence "), 1U);
    EXPECT_EQ(count(shown.text, " watermark "), 1U);
    const std::string last = "record " + std::to_string(base.lsn_next - 1) + " type 0";
    EXPECT_EQ(count(shown.text, last), 1U);
    EXPECT_EQ(count(shown.text, "bytes 9000\n"), count(shown.text, " data "));
}

TEST(WalDump, OfADamagedLogShowsWhatStandsBeforeTheDamage) {
    DamageBase& base = damage_base(4096);
    Image image(base.pool, base.quiet);
    image.flip(newest, at(3), 0);

    const Dump shown = dump(image.image, {.records = true});

    EXPECT_EQ(to_string(shown.report.verdict), to_string(Verdict::refuse));
    const auto record = [&](Lsn back) {
        return count(shown.text, "record " + std::to_string(base.lsn_next - back) + " ");
    };
    EXPECT_EQ(record(5), 1U) << "F(2)";
    EXPECT_EQ(record(4), 0U) << "F(3)";
    EXPECT_EQ(record(3), 0U);
}

TEST(WalDump, EveryLineOfTheJsonIsAnObject) {
    DamageBase& base = damage_base(4096);
    const DumpOptions options{
        .records = true, .payload = true, .json = true, .from = base.lsn_next - 2};
    const Dump shown = dump(base.quiet, options);
    std::size_t lines = 0;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = shown.text.find('\n', begin)) != std::string::npos;
         begin = end + 1, ++lines) {
        const auto value = read_json(shown.text.substr(begin, end - begin), "dump");
        ASSERT_TRUE(value.has_value()) << value.error().context;
        EXPECT_EQ(value->kind, JsonKind::object);
    }
    EXPECT_EQ(lines, 3 + 2 + 2 + 1U) << "segments, frames, records, the watermark";
    EXPECT_EQ(count(shown.text, "\"payload\":\""), 2U);
}

TEST(WalDump, ASinkThatFailsEndsIt) {
    MemoryStorage memory(damage_base(4096).pool, damage_base(4096).quiet, {});
    int calls = 0;
    const auto done = dump_log(memory, {}, [&](std::string_view) -> Result<void> {
        if (++calls == 3) return Error{Errc::no_space, ENOSPC, "write"};
        return {};
    });

    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, Errc::no_space);
    EXPECT_EQ(calls, 3);
}

TEST(WalDump, BlocksAreShownByThemselves) {
    DamageBase& base = damage_base(4096);
    Image image(base.pool, base.quiet);
    image.flip(newest, at(2), 5);
    image.set_block(newest, 30, image.block(newest, at(4)));
    image.segment(newest).set_size(31 * block_bytes + 100, base.pool);
    MemoryStorage memory(base.pool, image.image, {});
    for (const bool json : {false, true}) {
        std::string text;
        const auto done = dump_blocks(memory, newest, json, [&](std::string_view line) {
            text += line;
            return Result<void>{};
        });
        ASSERT_TRUE(done.has_value());
        EXPECT_EQ(count(text, json ? "\"what\":\"header\"" : "block 0 header"), 1U) << text;
        EXPECT_EQ(count(text, json ? "\"block\":4,\"what\":\"other\"" : "block 4 other"), 1U);
        EXPECT_EQ(count(text, "misplaced"), 1U);
        EXPECT_EQ(count(text, json ? "\"bytes\":100" : "block 31 cut off after 100"), 1U);
        EXPECT_EQ(count(text, "zero"), 1U);
    }
    EXPECT_FALSE(dump_blocks(memory, 77, false, [](std::string_view) {
                     return Result<void>{};
                 }).has_value());
}

TEST(WalDump, FiguresAddUp) {
    DamageBase& base = damage_base(4096);
    MemoryStorage memory(base.pool, base.quiet, {});

    const LogFigures figures = survey_log(memory, false);

    const SegmentFigures sum = figures.sum();
    ASSERT_EQ(figures.segments.size(), 3U);
    EXPECT_EQ(sum.records, base.lsn_next - figures.segments.front().first_lsn);
    EXPECT_EQ(sum.payload_bytes, sum.records * 9000);
    EXPECT_EQ(figures.fences, 1U);
    EXPECT_TRUE(figures.segments[0].sealed);
    EXPECT_FALSE(figures.segments[2].sealed);
    EXPECT_EQ(sum.frame_bytes % block_bytes, 0U);
}

} // namespace
} // namespace promtact::wal::testing
