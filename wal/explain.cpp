// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/wal/explain.hpp>

namespace promtact::wal {
namespace {

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

std::string records_words(Lsn first, Lsn last) {
    if (first > last) return "no record";
    if (first == last) return "record " + number(first);
    return "records " + number(first) + " to " + number(last) + " (" + number(last - first + 1) +
           ")";
}

bool is_about_super(const ScanReport& report) noexcept {
    return report.segment == 0;
}

/// Damage in front of everything that stands: cutting behind it helps nothing.
bool is_at_start(const ScanReport& report) noexcept {
    return report.segment != 0 && !report.segments.empty() &&
           report.segment < report.segments.front().segment;
}

/// What a refusal can be mended with, when a prefix stands.
RepairCase repair_of(const ScanReport& report) noexcept {
    switch (report.refusal) {
    case Refusal::super_lost:
        return RepairCase::rebuild_super;
    case Refusal::corrupt_tail:
        return RepairCase::drop_tail;
    case Refusal::missing_segment:
    case Refusal::corrupt:
    case Refusal::chain:
    case Refusal::sequence:
    case Refusal::misdirected:
    case Refusal::misnamed:
        return !is_at_start(report) && report.end.segment != 0 &&
                       report.end.next_lsn >= report.first_live_lsn
                   ? RepairCase::truncate_at
                   : RepairCase::salvage;
    case Refusal::io:
        return RepairCase::salvage;
    case Refusal::none:
    case Refusal::geometry:
    case Refusal::unsupported_feature:
    case Refusal::foreign:
    case Refusal::not_regular:
    case Refusal::denied:
        return RepairCase::none;
    }
    return RepairCase::none;
}

std::string stands_words(const ScanReport& report) {
    if (report.end.segment == 0) return "no record could be verified";
    const Lsn last = report.end.next_lsn - 1;
    if (last < report.first_live_lsn) return "no live record stands";
    return records_words(report.first_live_lsn, last);
}

std::string lost_words(const ScanReport& report) {
    if (report.verdict == Verdict::ok || report.verdict == Verdict::fresh) return "nothing";
    const Lsn from = std::max<Lsn>(1, report.end.next_lsn);
    if (report.verdict == Verdict::prefix) {
        const bool named = report.lost_last >= from;
        std::string words = "nothing that was acknowledged";
        if (report.ambiguous_tail) {
            return words + " if a crash tore the tail; if it rotted, at most " +
                   (named ? records_words(from, report.lost_last) : "what was written last");
        }
        words += named ? "; " + records_words(from, report.lost_last) + " were begun"
                       : "; no record is named";
        return words;
    }
    switch (report.refusal) {
    case Refusal::super_lost:
        return "no record, unless the newest segments are missing too: only SUPER knew of them";
    case Refusal::unsupported_feature:
    case Refusal::geometry:
        return "nothing: the log was not read";
    case Refusal::not_regular:
    case Refusal::io:
    case Refusal::denied:
        return "nothing is known to be lost: what could not be read may be intact";
    case Refusal::foreign:
        return "what the other log's segment stands in for";
    default:
        break;
    }
    std::string words = "every record from " + number(from) + " on";
    words += report.lost_last >= from
                 ? "; the highest of which there is a trace is " + number(report.lost_last)
                 : "; there is no trace of one";
    return words;
}

std::string helps_words(const ScanReport& report, RepairCase which) {
    switch (which) {
    case RepairCase::drop_tail:
        return "restore from a replica or backup; or `promtact wal repair -drop-tail`";
    case RepairCase::truncate_at:
        return "restore from a replica or backup; or give up the records with `promtact wal "
               "repair -truncate-at " +
               number(report.end.next_lsn) + "`, after `promtact wal export -salvage`";
    case RepairCase::rebuild_super:
        return "`promtact wal repair -rebuild-super`";
    case RepairCase::salvage:
        return "restore from a replica or backup; `promtact wal export -salvage` saves every "
               "record that can be read";
    case RepairCase::none:
        break;
    }
    switch (report.refusal) {
    case Refusal::none:
        break;
    case Refusal::unsupported_feature:
    case Refusal::geometry:
        return "use the version of this program that wrote the log";
    case Refusal::not_regular:
        return "put the file itself in place of the link, directory or pipe";
    case Refusal::denied:
        return "run this as the owner of the log, or let this user read " + place_of(report) +
               ": read permission (r) is missing on it, or search permission (x) on its directory";
    case Refusal::foreign:
        return "move the other log's file away and put the right one in its place";
    default:
        return "restore from a replica or backup";
    }
    if (report.read_only) return "reading is allowed; a newer version may append";
    return report.verdict == Verdict::prefix ? "nothing: opening the log drops the tail" : "";
}

} // namespace

std::string_view to_string(RepairCase which) noexcept {
    switch (which) {
    case RepairCase::none:
        return "none";
    case RepairCase::drop_tail:
        return "drop-tail";
    case RepairCase::truncate_at:
        return "truncate-at";
    case RepairCase::rebuild_super:
        return "rebuild-super";
    case RepairCase::salvage:
        return "salvage";
    }
    return "unknown";
}

std::string_view rule_words(std::string_view rule) noexcept {
    if (rule == "R0") return "only regular files of the log's own names belong to it";
    if (rule == "R1") return "a slot of SUPER must hold while a segment exists";
    if (rule == "R2") return "every live segment is there, whole, and of this log";
    if (rule == "R3") return "frames follow one another: place, bounds, LSN, chain and checksums";
    if (rule == "R4") return "a segment that another follows ends exactly where the other says";
    if (rule == "R5") return "what lies behind the last frame must be what a crash may leave";
    return {};
}

std::string place_of(const ScanReport& report) {
    return is_about_super(report) ? std::string(super_name) : segment_name(report.segment);
}

Explanation explain(const ScanReport& report) {
    Explanation words;
    words.why = report.text;
    if (!report.rule.empty())
        words.rule = std::string(report.rule) + ": " + std::string(rule_words(report.rule));
    words.stands = stands_words(report);
    words.lost = lost_words(report);
    words.verdict = to_string(report.verdict);
    if (report.verdict == Verdict::refuse) {
        PROMTACT_ASSERT(report.refusal != Refusal::none);
        words.verdict = "refused: " + std::string(to_string(report.refusal));
        words.repair = repair_of(report);
        words.code = errc_of(report.refusal);
        words.where = place_of(report);
        if (report.sys_errno != 0) words.why += " (" + errno_name(report.sys_errno) + ")";
    }
    const bool block = !is_about_super(report) && report.block > 0 &&
                       (report.verdict == Verdict::prefix || report.verdict == Verdict::refuse);
    if (report.verdict == Verdict::prefix) words.where = place_of(report);
    if (block) {
        words.where += ", block " + number(report.block) + " (byte " +
                       number(std::uint64_t{report.block} * block_bytes) + ")";
    }
    if (report.ambiguous_tail)
        words.why += "; this device tears blocks, so rot in the newest records would look the same";
    words.helps = helps_words(report, words.repair);
    return words;
}

} // namespace promtact::wal
