// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The part of a scan that judges content: each live segment, a file that was never opened, and the
// newest segment's tail (R4, R5).
#include <algorithm>

#include <promtact/wal/scan.hpp>

#include "judge_internal.hpp"

namespace promtact::wal {

std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::fresh:
        return "fresh";
    case Verdict::ok:
        return "ok";
    case Verdict::prefix:
        return "prefix";
    case Verdict::refuse:
        return "refuse";
    }
    return "unknown";
}

std::string_view to_string(Refusal refusal) noexcept {
    switch (refusal) {
    case Refusal::none:
        return "none";
    case Refusal::super_lost:
        return "super lost";
    case Refusal::missing_segment:
        return "missing segment";
    case Refusal::corrupt:
        return "corrupt";
    case Refusal::corrupt_tail:
        return "corrupt tail";
    case Refusal::chain:
        return "chain";
    case Refusal::sequence:
        return "sequence";
    case Refusal::misdirected:
        return "misdirected";
    case Refusal::misnamed:
        return "misnamed";
    case Refusal::geometry:
        return "geometry";
    case Refusal::unsupported_feature:
        return "unsupported feature";
    case Refusal::foreign:
        return "foreign";
    case Refusal::not_regular:
        return "not a regular file";
    case Refusal::io:
        return "i/o";
    case Refusal::denied:
        return "denied";
    }
    return "unknown";
}

Errc errc_of(Refusal refusal) noexcept {
    switch (refusal) {
    case Refusal::unsupported_feature:
    case Refusal::geometry:
        return Errc::format;
    case Refusal::io:
        return Errc::io;
    case Refusal::denied:
        return Errc::denied;
    case Refusal::not_regular:
    case Refusal::foreign:
        return Errc::refused;
    case Refusal::none:
    case Refusal::super_lost:
    case Refusal::missing_segment:
    case Refusal::corrupt:
    case Refusal::corrupt_tail:
    case Refusal::chain:
    case Refusal::sequence:
    case Refusal::misdirected:
    case Refusal::misnamed:
        return Errc::corrupt;
    }
    return Errc::corrupt;
}

void add_void(std::vector<VoidRange>& ranges, VoidRange range) {
    PROMTACT_ASSERT(range.first <= range.last);
    while (!ranges.empty() && ranges.back().first >= range.first)
        ranges.pop_back();
    // A truncation that begins inside the last one's range merges with it.
    if (!ranges.empty() && ranges.back().last + 1 >= range.first) {
        ranges.back().last = range.last;
    } else {
        ranges.push_back(range);
    }
}

/// R4: the segment before must end exactly where this one's header says.
bool LogScan::check_previous(const SegmentHeader& header) {
    if (report_.segments.empty()) {
        const bool start = header.segment == 1;
        if (start && header.previous_end != PreviousEnd::none) {
            refuse(Refusal::chain, "R2", "the first segment names one before it");
            return false;
        }
        if (header.first_lsn > report_.first_live_lsn && !relaxed_start_) {
            refuse(Refusal::missing_segment, "R2", "live records lie before the first segment");
            return false;
        }
        return true;
    }
    const SegmentFacts& before = report_.segments.back();
    if (before.end == header.previous &&
        before.sealed == (header.previous_end == PreviousEnd::sealed) &&
        header.previous_end != PreviousEnd::none) {
        return true;
    }
    const std::uint64_t segment = before.segment;
    report_.segment = segment;
    report_.lost_first = before.end.next_lsn;
    report_.lost_last = std::max(header.first_lsn - 1, tail_.lost_last);
    const bool says_sealed = header.previous_end == PreviousEnd::sealed;
    const bool too_short = before.end.next_lsn < header.previous.next_lsn;
    if (header.previous.segment == segment && (too_short || (says_sealed && !before.sealed))) {
        report_.block = before.end_block;
        refuse(
            Refusal::corrupt, "R4",
            "a segment followed by another does not verify to its end: " + tail_.text);
    } else {
        report_.segment = header.segment;
        refuse(Refusal::chain, "R4", "the header does not continue the segment before it");
    }
    return false;
}

void LogScan::judge_live() {
    const std::unique_ptr<SegmentJudge> judge = std::move(judge_);
    const Judgement judged = judge->finish();
    SegmentFacts& facts = judge->facts();
    durable_hint_ = std::max(durable_hint_, judged.acknowledged);
    fence_segment_ = std::max(fence_segment_, judged.fence_segment);
    fence_lsn_ = std::max(fence_lsn_, judged.fence_lsn);
    report_.end = facts.end;
    tail_ = {};
    tail_.segment = facts.segment;
    tail_.block = judged.block;
    tail_.lost_first = facts.end.next_lsn;
    tail_.lost_last = std::max(judged.highest_seen, judged.acknowledged);
    if (judged.refusal != Refusal::none) {
        report_.block = judged.block;
        report_.lost_first = tail_.lost_first;
        report_.lost_last = tail_.lost_last;
        return refuse(judged.refusal, "R3", judged.why);
    }
    tail_.torn_frames = judged.later_headers;
    tail_.tail_zero = judged.rest_zero;
    tail_.ambiguous_tail = judged.unexplained;
    tail_.text = "block " + std::to_string(judged.block) + " is not the next frame";
    tail_.verdict = judged.torn ? Verdict::prefix : Verdict::ok;
    tail_acknowledged_ = judged.acknowledged;
    tail_misplaced_ = judged.misplaced;
    report_.segments.push_back(std::move(facts));
    next_segment();
}

/// A file whose first block is zero: a spare, or a segment of which not even the header arrived.
void LogScan::judge_unopened() {
    const std::uint64_t segment = present_[cursor_];
    const Super& super = *report_.super;
    if (segment != expected_segment() && !spare_follows(segment)) gap_ = true;
    // Its header and first frame were one write, and SUPER named it before anything in it was
    // acknowledged. Frames of the file's earlier uses vouch for less than the log holds.
    const auto content = buffer_.span().first(static_cast<std::size_t>(wanted_));
    const Lsn acknowledged = acknowledged_in(content, super.layout);
    const bool opened = segment <= super.highest_opened;
    const bool last = segment == super.highest_opened && segment == expected_segment();
    if (acknowledged >= report_.end.next_lsn ||
        (opened && (!last || super.end.segment >= segment))) {
        report_.lost_first = report_.end.next_lsn;
        report_.lost_last = acknowledged;
        return refuse(
            Refusal::corrupt, "R2",
            "the segment's header is gone, and records in it were acknowledged");
    }
    if (gap_ || file_bytes_ < super.segment_bytes) {
        report_.leftovers.push_back(segment_name(segment));
    } else {
        report_.spares.push_back(segment);
    }
    next_segment();
}

bool LogScan::spare_follows(std::uint64_t segment) const noexcept {
    return !report_.spares.empty() && report_.spares.back() + 1 == segment;
}

/// R5: every file was looked at; the newest live segment is the last.
void LogScan::finish() {
    const Super& super = *report_.super;
    const std::uint64_t last = report_.segments.empty() ? 0 : report_.segments.back().segment;
    const bool opened_is_here =
        super.highest_opened <= last ||
        (super.highest_opened == expected_segment() && !report_.spares.empty() &&
         report_.spares.front() == super.highest_opened);
    report_.segment = last;
    report_.lost_first = report_.end.next_lsn;
    if (!opened_is_here) {
        report_.segment = expected_segment();
        return refuse(
            Refusal::missing_segment, "R2",
            "SUPER says that a segment was opened whose file is not there");
    }
    if (relaxed_start_) {
        if (fence_segment_ < report_.first_live_segment) {
            report_.segment = super.first_live_segment;
            return refuse(
                Refusal::missing_segment, "R2",
                "segments are missing at the start, and no fence says they were released");
        }
    }
    report_.first_live_lsn = std::max(report_.first_live_lsn, fence_lsn_);
    report_.block = tail_.block;
    report_.lost_last = tail_.lost_last;
    if (report_.segments.empty()) return accept();
    const Lsn next = report_.end.next_lsn;
    if (tail_acknowledged_ >= next) {
        return refuse(
            Refusal::corrupt, "R5",
            "a later frame vouches that LSN " + std::to_string(next) + " was acknowledged");
    }
    if (super.end.segment == last && super.end.next_lsn > next) {
        return refuse(
            Refusal::corrupt, "R5",
            "SUPER says that the log once reached LSN " + std::to_string(super.end.next_lsn - 1));
    }
    if (super.first_live_lsn > next) {
        return refuse(Refusal::corrupt, "R5", "SUPER says that later records were released");
    }
    if (tail_misplaced_ > 0) {
        report_.block = tail_misplaced_;
        return refuse(
            Refusal::misdirected, "R5",
            "a frame of this segment lies where it was not written to, and is missing where it "
            "was");
    }
    // Before anything more is appended, a slot says that the log is open again.
    report_.closed = super.clean && super.end == report_.end && report_.slots_damaged == 0 &&
                     tail_.torn_frames == 0;
    if (report_.closed && report_.segments.back().recycled) {
        // What follows is what the file held before.
        tail_.verdict = Verdict::ok;
        tail_.ambiguous_tail = false;
    }
    if (tail_.ambiguous_tail) return judge_ambiguous();
    accept();
}

void LogScan::judge_ambiguous() {
    const bool whole_blocks = storage_->limits().atomic_bytes >= block_bytes;
    if (whole_blocks && !report_.segments.back().recycled) {
        return refuse(
            Refusal::corrupt_tail, "R5",
            "the tail holds a block that no crash leaves on a device that writes whole blocks");
    }
    report_.ambiguous_tail = true;
    if (options_.strict) {
        return refuse(
            Refusal::corrupt_tail, "R5",
            "the tail was torn by a crash or rotted; this medium cannot tell which");
    }
    accept();
}

void LogScan::refuse(Refusal refusal, std::string_view rule, std::string text) {
    PROMTACT_ASSERT(refusal != Refusal::none);
    report_.verdict = Verdict::refuse;
    report_.refusal = refusal;
    report_.rule = rule;
    report_.text = std::move(text);
    // SUPER knows of records that the scan did not get to.
    const Lsn reached = report_.super ? report_.super->end.next_lsn : 0;
    if (errc_of(refusal) == Errc::corrupt && reached > 0)
        report_.lost_last = std::max(report_.lost_last, reached - 1);
    phase_ = in_flight_ > 0 ? Phase::drain : Phase::finished;
}

void LogScan::accept() {
    report_.verdict = tail_.verdict == Verdict::prefix ? Verdict::prefix : Verdict::ok;
    report_.rule = "R5";
    report_.tail_zero = tail_.tail_zero;
    report_.torn_frames = tail_.torn_frames;
    if (report_.verdict == Verdict::prefix) {
        report_.text = "a crash tore records that were not acknowledged; the log ends before LSN " +
                       std::to_string(report_.end.next_lsn);
        if (report_.lost_last < report_.end.next_lsn) report_.lost_last = 0; // none is named
    } else {
        report_.lost_first = report_.lost_last = 0;
        report_.text = "everything written stands";
    }
    phase_ = Phase::finished;
}

} // namespace promtact::wal
