// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// From the scan's verdict to a log that takes appends (R6). Nothing is written before the verdict;
// every step may be repeated after a crash.
#include <cerrno>

#include <promtact/wal/log_core.hpp>

namespace promtact::wal {
namespace {} // namespace

void LogCore::refuse(Errc code, std::string context) {
    error_ = Error{code, report_.sys_errno, std::move(context)};
    state_ = State::refused;
}

void LogCore::on_scanned() {
    PROMTACT_ASSERT(state_ == State::opening);
    report_ = scan_->report();
    scan_.reset(); // its buffer of a whole segment
    if (report_.verdict == Verdict::refuse) {
        std::string text = std::string(to_string(report_.refusal)) + " (rule " +
                           std::string(report_.rule) + ", segment " +
                           std::to_string(report_.segment) + ", block " +
                           std::to_string(report_.block) + "): " + report_.text;
        return refuse(errc_of(report_.refusal), std::move(text));
    }
    if (report_.read_only) {
        return refuse(Errc::format, "the log uses a feature we can read but not write");
    }
    if (report_.verdict == Verdict::fresh) {
        if (options_.open == LogOptions::Open::existing) {
            return refuse(Errc::not_found, "there is no log here");
        }
        if (options_.first_lsn > lsn_last) {
            return refuse(
                Errc::out_of_range, "a log cannot begin at LSN " +
                                        std::to_string(options_.first_lsn) + ": " +
                                        lsn_last_words());
        }
        layout_ = options_.layout;
        segment_bytes_ = options_.segment_bytes;
        super_ = {
            .uuid = options_.uuid,
            .first_live_lsn = options_.first_lsn,
            .segment_bytes = segment_bytes_,
            .layout = options_.layout};
        begin_at(options_.first_lsn);
        leftovers_ = report_.leftovers;
        super_whole_ = true;
        return enter(Repair::create_super);
    }
    if (options_.open == LogOptions::Open::create) {
        return refuse(Errc::exists, "there is a log here already");
    }
    adopt(report_);
}

/// The next record gets this LSN, and everything before it needs no acknowledgement any more: what
/// recovery keeps is made durable before anyone is told.
void LogCore::begin_at(Lsn next) {
    PROMTACT_ASSERT(next >= 1);
    next_lsn_ = next;
    first_live_lsn_ = fence_wanted_ = fence_pushed_ = next;
    durable_ = submitted_ = reported_ = next - 1;
    hinted_ = 0;
    previous_.next_lsn = next; // of a log without segments
}

void LogCore::adopt(const ScanReport& report) {
    super_ = *report.super;
    super_durable_ = super_;
    layout_ = super_.layout;
    segment_bytes_ = super_.segment_bytes;
    live_ = report.segments;
    voids_ = report.voids;
    leftovers_ = report.leftovers;
    super_.first_live_segment = report.first_live_segment;
    super_.first_live_lsn = report.first_live_lsn;
    begin_at(report.end.next_lsn);
    first_live_lsn_ = fence_wanted_ = fence_pushed_ = report.first_live_lsn;
    last_segment_ = report.first_live_segment - 1;
    if (!live_.empty()) last_segment_ = live_.back().segment;
    for (const std::uint64_t spare : report.spares) {
        spares_.push_back({.segment = spare, .recycled = true});
        last_segment_ = spare;
    }
    if (!live_.empty()) {
        previous_ = live_.back().end;
        previous_end_ = live_.back().sealed ? PreviousEnd::sealed : PreviousEnd::repaired;
    }
    enter(live_.empty() ? Repair::sync_super : Repair::open_last);
}

void LogCore::enter(Repair step) noexcept {
    repair_ = step;
    repair_submitted_ = false;
}

/// One request at a time. The order matters: a later step may destroy what an earlier one made sure
/// of.
void LogCore::repair() {
    if (repair_ == Repair::segment) {
        // The first segment of a new log, or one behind a tail, needs a spare; see maintain().
        if (super_dirty_ || super_step_ != SuperStep::idle) return;
        if (current_.segment == 0) {
            if (spares_.empty() || spares_.front().file == 0) {
                if (disk_full_) refuse(Errc::no_space, "no space for a segment");
                return;
            }
            const bool opened = rotate(true).has_value();
            PROMTACT_ASSERT(opened);
        }
        enter(Repair::done);
        state_ = State::ready;
        idle_since_ns_ = now_ns_;
        return;
    }
    if (repair_ == Repair::super) {
        if (super_dirty_ || super_step_ != SuperStep::idle) return;
        return enter(Repair::segment);
    }
    if (repair_submitted_ || repair_ == Repair::done) return;
    IoOp op;
    std::string& name = job_.name;
    switch (repair_) {
    case Repair::open_last:
        if (current_.file == 0) current_.file = take_file();
        name = segment_name(live_.back().segment);
        op = {.kind = IoKind::open, .file = current_.file, .name = name};
        break;
    case Repair::sync_last:
        op = {.kind = IoKind::sync_data, .file = current_.file};
        break;
    case Repair::sync_super:
        op = {.kind = IoKind::sync_data, .file = LogScan::super_file};
        break;
    case Repair::create_super:
        op = {.kind = IoKind::create, .file = LogScan::super_file, .name = super_name};
        break;
    case Repair::sync_dir:
        op = {.kind = IoKind::sync_dir};
        break;
    case Repair::super:
    case Repair::segment:
    case Repair::done:
        PROMTACT_UNREACHABLE();
    }
    repair_submitted_ = submit(Op::repair, op);
}

void LogCore::on_repair(std::int64_t result) {
    if (result < 0) {
        report_.sys_errno = static_cast<int>(-result);
        return refuse(
            errc_from_errno(static_cast<int>(-result)), "making the recovered log durable");
    }
    switch (repair_) {
    case Repair::open_last:
        return enter(Repair::sync_last); // a killed process may have left it in the cache
    case Repair::sync_last:
        return enter(Repair::sync_super);
    case Repair::sync_super:
        return enter(Repair::sync_dir); // so may the spares' names be
    case Repair::create_super:
        super_dirty_ = true; // SUPER is durable before the first segment has its name
        return enter(Repair::sync_dir);
    case Repair::sync_dir: {
        super_.clean = false;
        super_dirty_ = true;
        if (live_.empty()) return enter(Repair::super);
        const SegmentFacts& last = live_.back();
        super_.end = last.end;
        // In a recycled file a clean close tells, and nothing else, that what follows is old.
        const bool clear = last.recycled ? report_.closed : report_.tail_zero;
        const bool in_place = !last.sealed && clear && report_.verdict == Verdict::ok &&
                              last.end_block < segment_bytes_ / block_bytes - 1;
        if (in_place) {
            current_ = {
                .segment = last.segment,
                .salt = last.salt,
                .chain = last.end.chain,
                .file = current_.file,
                .next_block = last.end_block,
                .recycled = last.recycled};
            super_.highest_opened = std::max(super_.highest_opened, last.segment);
        } else {
            give_file(current_.file);
            current_ = {};
        }
        return enter(Repair::super);
    }
    case Repair::super:
    case Repair::segment:
    case Repair::done:
        return fail(EPROTO, "an answer without a question");
    }
    PROMTACT_UNREACHABLE();
}

} // namespace promtact::wal
