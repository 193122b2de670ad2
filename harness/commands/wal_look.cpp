// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal verify, stat and dump: they look and change nothing.
#include <fmt/format.h>

#include <promtact/base/json_writer.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/wal/dump.hpp>
#include <promtact/wal/explain.hpp>

#include "commands/wal_directory.hpp"
#include "commands/wal_verbs.hpp"
#include "word.hpp"

namespace promtact::harness {
namespace {

using wal::Explanation;
using wal::ScanReport;
using wal::Verdict;

constexpr std::size_t names_shown = 20;

int exit_of(const ScanReport& report) {
    if (report.verdict == Verdict::refuse) return wal_exit(wal::explain(report).code);
    return report.verdict == Verdict::fresh ? 1 : 0;
}

std::string line(std::string_view name, std::string_view text) {
    return text.empty() ? std::string() : fmt::format("{:<9} {}\n", name, text);
}

std::string names(const std::vector<std::string>& all) {
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), names_shown); ++i)
        text += (i == 0 ? "" : ", ") + printable(all[i]);
    if (all.size() > names_shown) text += fmt::format(" and {} more", all.size() - names_shown);
    return text;
}

/// The words, with the right that is missing and where, when that is why.
Explanation explain_at(const ScanReport& report, const std::string& directory) {
    Explanation words = wal::explain(report);
    if (report.refusal != wal::Refusal::denied) return words;
    const std::string place = wal::place_of(report);
    words.helps = wal_denied_words({.directory = directory, .file = place});
    return words;
}

std::string as_text(const ScanReport& report, const std::string& directory) {
    const Explanation words = explain_at(report, directory);
    std::string text = line("verdict", words.verdict) + line("where", words.where) +
                       line("rule", words.rule) + line("found", words.why) +
                       line("stands", words.stands) + line("lost", words.lost) +
                       line("helps", words.helps);
    if (report.slots_damaged > 0)
        text += line("note", fmt::format("{} slots of SUPER are damaged", report.slots_damaged));
    if (report.oversize) text += line("note", "a segment's file is longer than the segment");
    if (report.read_only) text += line("note", "a newer version's log: may be read, not written");
    return text + line("leftover", names(report.leftovers)) +
           line("ignored", names(report.ignored));
}

void add_report(JsonWriter& json, const ScanReport& report, const std::string& directory) {
    const Explanation words = explain_at(report, directory);
    json.field("verdict", to_string(report.verdict));
    json.field("refusal", to_string(report.refusal));
    json.field("rule", report.rule);
    json.field("where", words.where);
    json.field("segment", report.segment);
    json.field("block", std::uint64_t{report.block});
    json.field("found", words.why);
    json.field("stands", words.stands);
    json.field("lost", words.lost);
    json.field("lost_first", report.verdict == Verdict::refuse ? report.end.next_lsn : 0);
    json.field("lost_last", report.lost_last);
    json.field("helps", words.helps);
    json.field("repair", to_string(words.repair));
    json.field("errno", static_cast<std::uint64_t>(report.sys_errno));
    json.field_bool("ambiguous_tail", report.ambiguous_tail);
    json.field_bool("read_only", report.read_only);
    json.field_bool("oversize", report.oversize);
    json.field("first_live_lsn", report.first_live_lsn);
    json.field("next_lsn", report.end.next_lsn);
    json.field("slots_damaged", std::uint64_t{report.slots_damaged});
    json.strings("leftovers", report.leftovers);
    json.strings("ignored", report.ignored);
}

struct Common {
    std::vector<std::string> paths{};
    bool json = false;
    bool strict = false;
};

void add_common(FlagSet& flags, Common& common, std::string_view example) {
    flags.positionals("directory", common.paths, 1, 1, "of the log");
    flags.flag("json", common.json, "print JSON");
    flags.flag("strict", common.strict, "refuse a tail that may be torn or rotted");
    flags.footer(wal_footer(example));
}

std::string figures_text(const wal::LogFigures& figures, const std::string& directory) {
    std::string text = as_text(figures.report, directory);
    const wal::SegmentFigures sum = figures.sum();
    text += fmt::format(
        "segments  {} live, {} spare\nframes    {} ({} bytes with padding)\nrecords   {} ({} "
        "bytes)\n",
        figures.segments.size(), figures.report.spares.size(), sum.frames, sum.frame_bytes,
        sum.records, sum.payload_bytes);
    text += fmt::format(
        "control   {} truncations, {} fences, {} watermarks\n", figures.truncations, figures.fences,
        figures.watermarks);
    for (const wal::VoidRange& range : figures.report.voids)
        text += fmt::format("void      LSN {} to {}\n", range.first, range.last);
    for (const wal::SegmentFigures& one : figures.segments) {
        text += fmt::format(
            "segment   {} LSN {} to {}, {} frames, {} records{}{}\n", one.segment, one.first_lsn,
            one.next_lsn - 1, one.frames, one.records, one.sealed ? ", sealed" : "",
            one.recycled ? ", recycled" : "");
    }
    return text;
}

std::string figures_json(const wal::LogFigures& figures, const std::string& directory) {
    JsonWriter json;
    json.field("schema", "promtact.wal-stat/1");
    add_report(json, figures.report, directory);
    const wal::SegmentFigures sum = figures.sum();
    json.field("frames", sum.frames);
    json.field("frame_bytes", sum.frame_bytes);
    json.field("records", sum.records);
    json.field("payload_bytes", sum.payload_bytes);
    json.field("truncations", figures.truncations);
    json.field("fences", figures.fences);
    json.field("watermarks", figures.watermarks);
    json.field("spares", std::uint64_t{figures.report.spares.size()});
    json.array("segments");
    for (const wal::SegmentFigures& one : figures.segments) {
        json.object_item();
        json.field("segment", one.segment);
        json.field("first_lsn", one.first_lsn);
        json.field("next_lsn", one.next_lsn);
        json.field("frames", one.frames);
        json.field("records", one.records);
        json.field("payload_bytes", one.payload_bytes);
        json.field("frame_bytes", one.frame_bytes);
        json.field_bool("sealed", one.sealed);
        json.field_bool("recycled", one.recycled);
        json.end();
    }
    json.end();
    return json.finish();
}

Result<int> dump(const Common& common, const wal::DumpOptions& options, std::uint64_t segment) {
    PROMTACT_TRY_ASSIGN(const WalDirectory log, open_wal_to_look(common.paths.front()));
    const wal::TextSink sink = wal_stdout();
    if (segment != 0) {
        PROMTACT_TRY(wal::dump_blocks(*log.storage, segment, options.json, sink));
        return 0;
    }
    PROMTACT_TRY_ASSIGN(const ScanReport report, wal::dump_log(*log.storage, options, sink));
    const Explanation words = explain_at(report, common.paths.front());
    const bool good = report.verdict == Verdict::ok || report.verdict == Verdict::prefix;
    if (!good) {
        std::fputs(
            ("promtact wal dump: " + words.verdict + ": " + words.why +
             (words.code == Errc::denied ? "; " + words.helps : "") + "\n")
                .c_str(),
            stderr);
    }
    return exit_of(report);
}

} // namespace

int wal_verify(std::span<const std::string> words) {
    Common common;
    FlagSet flags("promtact wal verify", "Says whether a log stands, and if not, why.");
    add_common(flags, common, "verify /data/log");
    if (const auto exit = flags.parse(words)) return *exit;
    const auto log = open_wal_to_look(common.paths.front());
    if (!log) return wal_fail("verify", log.error(), {.directory = common.paths.front()});
    // One entry of the index is enough: nothing is read back.
    wal::LogScan scan(
        *log->storage, {.strict = common.strict, .index_stride_blocks = ~std::uint32_t{0}});
    scan.run();
    if (common.json) {
        JsonWriter json;
        json.field("schema", "promtact.wal-verify/1");
        add_report(json, scan.report(), common.paths.front());
        std::fputs(json.finish().c_str(), stdout);
    } else {
        std::fputs(as_text(scan.report(), common.paths.front()).c_str(), stdout);
    }
    return exit_of(scan.report());
}

int wal_stat(std::span<const std::string> words) {
    Common common;
    FlagSet flags("promtact wal stat", "Says what a log consists of.");
    add_common(flags, common, "stat /data/log --json");
    if (const auto exit = flags.parse(words)) return *exit;
    const auto log = open_wal_to_look(common.paths.front());
    if (!log) return wal_fail("stat", log.error(), {.directory = common.paths.front()});
    const wal::LogFigures figures = wal::survey_log(*log->storage, common.strict);
    const std::string& directory = common.paths.front();
    const std::string text =
        common.json ? figures_json(figures, directory) : figures_text(figures, directory);
    std::fputs(text.c_str(), stdout);
    return exit_of(figures.report);
}

int wal_dump(std::span<const std::string> words) {
    Common common;
    wal::DumpOptions options;
    std::uint64_t segment = 0;
    FlagSet flags(
        "promtact wal dump", "Shows a log's segments and frames, up to where it can be believed.");
    add_common(flags, common, "dump /data/log --json");
    flags.flag("records", options.records, "show each record too");
    flags.flag("payload", options.payload, "with its payload in hexadecimal");
    flags.number("from", options.from, 0, UINT64_MAX, "first LSN to show");
    flags.number("through", options.through, 0, UINT64_MAX, "last LSN to show");
    flags.number(
        "segment", segment, 1, UINT64_MAX,
        "show every block of this segment by itself instead, believed or not");
    if (const auto exit = flags.parse(words)) return *exit;
    options.records = options.records || options.payload;
    options.json = common.json;
    options.strict = common.strict;
    const Result<int> shown = dump(common, options, segment);
    if (shown) return *shown;
    return wal_fail("dump", shown.error(), {.directory = common.paths.front()});
}

} // namespace promtact::harness
