// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/read_file.hpp>

#include "test_paths.hpp"
#include "testing/export_text.hpp"

namespace promtact::wal::testing {
namespace {

/// Rotations, tags, truncations and a fence.
disk::Image rich_log(disk::Pool& pool, Layout layout) {
    LogOptions options = small_options();
    options.layout = layout;
    LogDriver driver(pool, {}, options);
    EXPECT_TRUE(driver.open());
    for (Lsn i = 0; i < 70; ++i) {
        const std::size_t bytes = layout == Layout::fixed ? record_bytes : (i * 311) % 9000;
        const RecordTag tag{
            .type = static_cast<std::uint16_t>(i),
            .flags = static_cast<std::uint16_t>(i * 7),
            .schema = static_cast<std::uint32_t>(i * 1000)};
        EXPECT_NE(
            driver.append(payload_of(i, bytes), layout == Layout::fixed ? RecordTag{} : tag), 0U);
        if (i % 20 == 13) {
            EXPECT_TRUE(driver.make_durable());
            EXPECT_TRUE(driver.log->truncate_suffix(driver.log->last() - 3).has_value());
        }
        if (i % 5 == 0) {
            EXPECT_TRUE(driver.make_durable());
        }
    }
    EXPECT_TRUE(driver.make_durable());
    EXPECT_TRUE(driver.log->release_prefix(22).has_value());
    driver.rest();
    EXPECT_TRUE(driver.close());
    return driver.crash();
}

TEST(WalExport, WhatIsImportedExportsToTheSameText) {
    for (const Layout layout : {Layout::variable, Layout::fixed}) {
        disk::Pool pool(4096);
        const disk::Image image = rich_log(pool, layout);
        const Exported first = export_image(pool, image);
        ASSERT_TRUE(first.tally.has_value()) << first.tally.error().context;
        EXPECT_GT(first.tally->first_lsn, layout == Layout::fixed ? 0U : 1U);
        EXPECT_EQ(first.tally->truncations, layout == Layout::fixed ? 3U : 2U);

        const auto imported = import_text(pool, first.text);
        ASSERT_TRUE(imported.has_value()) << imported.error().context;

        EXPECT_EQ(export_image(pool, *imported).text, first.text);
        const ScanReport before = scan_image(pool, image);
        const ScanReport after = scan_image(pool, *imported);
        EXPECT_EQ(to_string(after.verdict), to_string(Verdict::ok));
        EXPECT_TRUE(after.super->clean);
        EXPECT_EQ(after.end.next_lsn, before.end.next_lsn);
        EXPECT_EQ(after.first_live_lsn, before.first_live_lsn);
        EXPECT_EQ(after.super->uuid, before.super->uuid);
        ASSERT_FALSE(after.voids.empty());
        EXPECT_EQ(after.voids.back(), before.voids.back());
    }
}

TEST(WalExport, ARefusedLogIsNotExportedUnlessSalvaged) {
    DamageBase& base = damage_base(4096);
    Image image(base.pool, base.quiet);
    image.flip(newest, at(2) + 1, 77);

    const Exported plain = export_image(base.pool, image.image);
    const Exported saved = export_image(base.pool, image.image, true);

    ASSERT_FALSE(plain.tally.has_value());
    EXPECT_EQ(plain.tally.error().code, Errc::corrupt);
    EXPECT_TRUE(plain.text.empty()) << "nothing of a log that is not believed";
    ASSERT_TRUE(saved.tally.has_value());
    EXPECT_EQ(saved.tally->unread, 1U);
    EXPECT_EQ(saved.tally->next_lsn, base.lsn_next);
    EXPECT_FALSE(import_text(base.pool, saved.text).has_value());
    const auto gaps = import_text(base.pool, saved.text, {.entropy = 5, .accept_gaps = true});
    ASSERT_TRUE(gaps.has_value()) << gaps.error().context;
    const ScanReport report = scan_image(base.pool, *gaps);
    EXPECT_EQ(report.end.next_lsn, base.lsn_next);
    const Lsn lost = base.lsn_next - 5;
    EXPECT_EQ(report.voids, (std::vector<VoidRange>{{.first = lost, .last = lost}}));
}

TEST(WalExport, SalvageReadsWhateverIsThereInAnyDamage) {
    DamageBase& base = damage_base(4096);
    const std::uint64_t all = export_image(base.pool, base.quiet).tally->records;
    struct Case {
        std::function<void(Image&)> damage{};
        std::uint64_t fewer = 0;
    };
    const std::vector<Case> cases{
        {[](Image& i) { i.remove("SUPER"); }, 0},
        {[](Image& i) { i.zero(newest, 0); }, 0},
        {[](Image& i) {
             i.edit_super([](std::size_t, Super& super) {
                 super.first_live_lsn = 0;
                 super.segment_bytes = 5;
             });
         },
         0},
        {[](Image& i) { i.flip(7, 0, 100); }, 0},
        {[](Image& i) { i.zero(newest, at(1)); }, 1},
        {[](Image& i) { i.segment(newest).set_size(10 * block_bytes, *i.pool); }, 3},
        {[](Image& i) { i.remove(segment_name(newest)); }, 6},
    };
    for (const Case& one : cases) {
        Image image(base.pool, base.quiet);
        one.damage(image);
        const Exported saved = export_image(base.pool, image.image, true);
        ASSERT_TRUE(saved.tally.has_value()) << saved.tally.error().context;
        EXPECT_EQ(saved.tally->records, all - one.fewer);
    }
}

TEST(WalExport, AnUnreadableBlockTakesOnlyItsFrame) {
    DamageBase& base = damage_base(4096);
    MemoryStorage memory(base.pool, base.quiet, {});
    FaultStorage faults(memory, 1);
    // Every read beyond the first of each segment fails once in a while: the window, then a block.
    for (std::uint64_t n = 8; n < 14; ++n)
        faults.add({.kind = IoKind::read, .after = n, .fault = StorageFault::fail});
    std::string text;

    const auto tally = export_log(faults, {.salvage = true}, [&](std::string_view line) {
        text += line;
        return Result<void>{};
    });

    ASSERT_TRUE(tally.has_value()) << tally.error().context;
    EXPECT_GT(tally->records, 0U);
    EXPECT_FALSE(lines_of(text).empty());
}

TEST(WalExport, EveryMissingRepeatedOrChangedLineIsRefused) {
    disk::Pool pool(4096);
    const std::string text = export_image(pool, rich_log(pool, Layout::variable)).text;
    const std::vector<std::string> lines = lines_of(text);
    const auto read_all = [](const std::vector<std::string>& some) -> Result<void> {
        ExportReader reader;
        for (const std::string& line : some)
            PROMTACT_TRY(reader.read(line));
        return reader.finish();
    };
    ASSERT_TRUE(read_all(lines).has_value()) << "the control";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::vector<std::string> some = lines;
        some.erase(some.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_FALSE(read_all(some).has_value()) << "without line " << i + 1;
        some = lines;
        some.insert(some.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
        EXPECT_FALSE(read_all(some).has_value()) << "line " << i + 1 << " twice";
        if (i == 0) continue;
        for (const std::size_t back : {3U, 12U}) {
            some = lines;
            char& c = some[i][some[i].size() - std::min(back, some[i].size())];
            c = c == 'A' ? 'B' : 'A';
            EXPECT_FALSE(read_all(some).has_value()) << "line " << i + 1 << " changed";
        }
    }
}

TEST(WalExport, AnErrorNamesLineAndField) {
    const auto error = [](const char* second) {
        ExportReader reader;
        EXPECT_TRUE(reader.read(export_header()).has_value());
        const auto item = reader.read(second);
        return item ? std::string("accepted") : item.error().context;
    };
    EXPECT_NE(error("nonsense").find("line 2: column "), std::string::npos);
    EXPECT_NE(error("[]").find("line 2: is not a JSON object"), std::string::npos);
    EXPECT_NE(
        error(R"({"lsn":1,"type":70000,"flags":0,"schema":0,"crc":0,"payload":""})").find("type"),
        std::string::npos);
    EXPECT_NE(
        error(R"({"lsn":1,"type":0,"flags":0,"schema":0,"crc":0,"payload":"AB"})").find("base64"),
        std::string::npos);
    EXPECT_NE(
        error(R"({"lsn":1,"type":0,"flags":0,"schema":0,"crc":0,"payload":""})").find("checksum"),
        std::string::npos);
    EXPECT_NE(error(R"({"gap":1,"last":0})").find("last"), std::string::npos);
}

TEST(WalExport, TheFormatPageShowsWhatIsWritten) {
    std::string text = "```\n";
    ExportWriter writer([&](std::string_view line) {
        text += line;
        return Result<void>{};
    });
    ExportHeader header{.segment_bytes = 65536, .first_lsn = 5};
    header.uuid.back() = std::byte{1};
    constexpr std::string_view hello = "hello";
    ASSERT_TRUE(writer.begin(header).has_value());
    ASSERT_TRUE(writer
                    .record(
                        {.lsn = 5,
                         .tag = {.type = 2, .schema = 7},
                         .payload = std::as_bytes(std::span(hello.data(), hello.size()))})
                    .has_value());
    ASSERT_TRUE(writer.end().has_value());
    const auto page = read_text_file(test_source_path("wal/EXPORT_FORMAT.md"), Bytes{1U << 16U});
    ASSERT_TRUE(page.has_value());
    EXPECT_NE(page->find(text + "```"), std::string::npos) << text;
}

TEST(WalExport, Base64IsRfc4648AndHasOneTextForEveryContent) {
    const auto encoded = [](std::string_view text) {
        return base64(std::as_bytes(std::span(text.data(), text.size())));
    };
    EXPECT_EQ(encoded(""), "");
    EXPECT_EQ(encoded("f"), "Zg==");
    EXPECT_EQ(encoded("ba"), "YmE=");
    EXPECT_EQ(encoded("foo"), "Zm9v");
    EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
    std::vector<std::byte> out;
    for (const char* bad : {"Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm 9", "Zg==Zg=="})
        EXPECT_FALSE(parse_base64(bad, out)) << bad;
    for (std::size_t size = 0; size < 70; ++size) {
        const auto bytes = payload_of(size, size);
        ASSERT_TRUE(parse_base64(base64(bytes), out));
        EXPECT_EQ(out, bytes);
    }
}

} // namespace
} // namespace promtact::wal::testing
