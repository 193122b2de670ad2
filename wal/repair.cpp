// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What would mend a log: looks, and writes nothing.
#include <algorithm>

#include <promtact/base/assert.hpp>
#include <promtact/wal/repair.hpp>

#include "repair_internal.hpp"

namespace promtact::wal {
namespace {

std::string lsn_words(Lsn first, Lsn last) {
    if (last < first) return "LSN " + std::to_string(first) + " on (there is no trace of any)";
    return "LSN " + std::to_string(first) + " to " + std::to_string(last);
}

/// A scan that remembers where the believed prefix ends and the highest fence in it.
struct Survey {
    ScanReport report{};
    std::uint64_t segment = 0;
    std::uint32_t end_block = 1;
    Lsn first_lsn = 0; // of the first live segment that is there
    ControlBody fence{};
};

Survey survey(Storage& storage, ScanOptions options) {
    Survey found;
    Layout layout = Layout::variable;
    options.index_stride_blocks = ~std::uint32_t{0};
    options.on_segment = [&](const SegmentHeader& header) {
        layout = header.layout;
        if (found.segment == 0) found.first_lsn = header.first_lsn;
        found.segment = header.segment;
        found.end_block = 1;
    };
    options.on_frame = [&](const FrameHeader& frame, std::span<const std::byte> bytes) {
        found.end_block = frame.block_no + frame.blocks;
        if (FrameKind{frame.kind} != FrameKind::fence) return;
        const ControlBody body = control_body(bytes, frame, layout);
        found.fence.a = std::max(found.fence.a, body.a);
        found.fence.b = std::max(found.fence.b, body.b);
    };
    LogScan scan(storage, options);
    scan.run();
    found.report = scan.report();
    return found;
}

/// The slots a repair writes: newer than every one there was, all alike.
Super next_super(const Super& from) {
    Super super = from;
    ++super.generation;
    super.clean = false;
    return super;
}

Result<void> plan_cut(SnapshotPump& pump, const Survey& found, RepairPlan& plan) {
    const ScanReport& report = found.report;
    plan.lost_first = report.end.next_lsn;
    plan.lost_last = report.lost_last;
    const Lsn live = std::max(report.first_live_lsn, found.fence.a);
    if (found.first_lsn > live) {
        // Only a damaged SUPER lets a scan get this far; the fence that excused it is cut off.
        plan.refusal = "live records before segment " + std::to_string(report.first_live_segment) +
                       " would be missing";
        return {};
    }
    if (report.end.segment == 0 || report.end.next_lsn < live) {
        plan.refusal = "no live record stands before the damage, so nothing would remain";
        return {};
    }
    PROMTACT_ASSERT(found.segment == report.end.segment);
    plan.segment = found.segment;
    plan.end_block = found.end_block;
    PROMTACT_TRY_ASSIGN(const auto entries, pump.list());
    // Behind a tail there are only spares.
    for (const SnapshotPump::Entry& entry : entries) {
        if (plan.which == RepairCase::truncate_at && parse_segment_name(entry.name) > plan.segment)
            plan.removed.push_back(entry.name);
    }
    PROMTACT_TRY_ASSIGN(
        plan.cut, has_content(
                      pump, segment_name(plan.segment), std::uint64_t{plan.end_block} * block_bytes,
                      report.super->segment_bytes));
    plan.super = next_super(*report.super);
    plan.super.first_live_segment = report.first_live_segment;
    plan.super.first_live_lsn = live;
    plan.super.highest_opened = plan.segment;
    plan.super.end = report.end;
    return {};
}

/// What the segments' first blocks tell of a SUPER that is gone.
struct Headers {
    std::optional<SegmentHeader> newest{};
    std::optional<SegmentHeader> first{}; // of segment 1
    std::uint64_t highest_used = 0;
    std::uint64_t lowest = 0; // of the run without a gap that ends at the highest used
};

Result<Headers> read_headers(SnapshotPump& pump) {
    PROMTACT_TRY_ASSIGN(const auto entries, pump.list());
    PumpBuffer buffer(block_bytes, std::max(pump.limits().align_memory, 64U));
    Headers found;
    std::uint64_t before = 0;
    for (const SnapshotPump::Entry& entry : entries) { // byte order is the order of the numbers
        const std::uint64_t segment = parse_segment_name(entry.name);
        if (segment == 0 || !entry.regular) continue;
        PROMTACT_TRY(pump.open(LogScan::segment_file, entry.name));
        PROMTACT_TRY_ASSIGN(
            const std::size_t bytes,
            pump.read(LogScan::segment_file, 0, buffer.span().first(block_bytes), entry.name));
        SegmentHeader header;
        const auto block = buffer.span().first<block_bytes>();
        const BlockContent content =
            bytes < block_bytes ? BlockContent::zero : decode(block, header);
        if (content == BlockContent::zero) continue;
        if (segment != before + 1 || found.lowest == 0) found.lowest = segment;
        before = found.highest_used = segment;
        if (content != BlockContent::valid) continue;
        found.newest = header;
        if (segment == 1) found.first = header;
    }
    return found;
}

Result<void> plan_super(Storage& storage, SnapshotPump& pump, bool strict, RepairPlan& plan) {
    PROMTACT_TRY_ASSIGN(const Headers headers, read_headers(pump));
    if (!headers.newest) {
        plan.refusal = "no segment has a header that holds, so nothing says what SUPER said";
        return {};
    }
    Super super{
        .uuid = headers.newest->uuid,
        .generation = super_slots,
        .first_live_segment = headers.lowest,
        .highest_opened = headers.highest_used,
        .segment_bytes = headers.newest->segment_bytes,
        .layout = headers.newest->layout,
        .features = headers.newest->features};
    // A first look for the fences: only they tell which segments may be missing.
    super.first_live_lsn = lsn_last + 1;
    const Survey loose = survey(storage, {.strict = strict, .super = super});
    super.first_live_segment = std::max<std::uint64_t>(1, loose.fence.b);
    super.first_live_lsn = std::max<Lsn>(1, loose.fence.a);
    if (super.first_live_segment == 1 && headers.first)
        super.first_live_lsn = std::max(super.first_live_lsn, headers.first->first_lsn);
    const ScanReport after = survey(storage, {.strict = strict, .super = super}).report;
    if (after.refusal == Refusal::missing_segment) {
        plan.refusal = "segments before segment " + std::to_string(headers.lowest) +
                       " are missing, and no fence says that they were released";
    }
    plan.super = super;
    plan.lost_first = plan.lost_last = 0;
    return {};
}

bool is_debris(std::string_view name) noexcept {
    return name == super_repair_name || name.ends_with(quarantine_part_suffix);
}

} // namespace

Result<bool>
has_content(SnapshotPump& pump, std::string_view name, std::uint64_t from, std::uint64_t to) {
    PumpBuffer buffer(copy_chunk_bytes, std::max(pump.limits().align_memory, 64U));
    PROMTACT_ASSERT(from % block_bytes == 0);
    PROMTACT_TRY_ASSIGN(const std::uint64_t size, pump.open(LogScan::segment_file, name));
    for (std::uint64_t at = from; at < std::min(size, to); at += copy_chunk_bytes) {
        const auto piece = buffer.span().first(
            static_cast<std::size_t>(std::min<std::uint64_t>(copy_chunk_bytes, to - at)));
        PROMTACT_TRY_ASSIGN(
            const std::size_t bytes, pump.read(LogScan::segment_file, at, piece, name));
        if (!is_zero(piece.first(bytes))) return true;
    }
    return size < to; // cut short: its end has to be made anew
}

Result<RepairPlan> plan_repair(Storage& storage, bool strict) {
    SnapshotPump pump(storage);
    RepairPlan plan;
    const Survey found = survey(storage, {.strict = strict});
    plan.report = found.report;
    PROMTACT_TRY_ASSIGN(const auto entries, pump.list());
    for (const SnapshotPump::Entry& entry : entries)
        if (is_debris(entry.name)) plan.debris.push_back(entry.name);
    plan.which = explain(plan.report).repair;
    if (plan.report.read_only) {
        plan.refusal = "the log uses a feature this version can read but not write";
        return plan;
    }
    switch (plan.which) {
    case RepairCase::none:
        if (plan.report.verdict == Verdict::refuse) plan.refusal = explain(plan.report).helps;
        break;
    case RepairCase::salvage:
        plan.refusal = "nothing in place can be mended: " + explain(plan.report).helps;
        break;
    case RepairCase::drop_tail:
    case RepairCase::truncate_at:
        PROMTACT_TRY(plan_cut(pump, found, plan));
        break;
    case RepairCase::rebuild_super:
        PROMTACT_TRY(plan_super(storage, pump, strict, plan));
        break;
    }
    return plan;
}

std::vector<std::string> RepairPlan::steps() const {
    std::vector<std::string> words;
    for (const std::string& name : debris)
        words.push_back("remove " + name + ", left by a repair that was cut off");
    if (which == RepairCase::none || !refusal.empty()) return words;
    const std::string suffix(quarantine_suffix);
    if (which == RepairCase::rebuild_super) {
        words.push_back("keep a copy of SUPER, if there is one, as SUPER" + suffix);
        words.push_back(
            "write SUPER: first live segment " + std::to_string(super.first_live_segment) +
            ", LSN " + std::to_string(super.first_live_lsn) + ", newest segment " +
            std::to_string(super.highest_opened));
        return words;
    }
    const std::string name = segment_name(segment);
    words.push_back("give up " + lsn_words(lost_first, lost_last));
    if (cut) words.push_back("keep a copy of " + name + " as " + name + suffix);
    words.push_back("keep a copy of SUPER as SUPER" + suffix);
    for (auto file = removed.rbegin(); file != removed.rend(); ++file)
        words.push_back("rename " + *file + " to " + *file + suffix);
    if (cut) {
        words.push_back(
            "replace " + name + " by its first " + std::to_string(end_block) +
            " blocks and zeros behind them");
    }
    words.push_back("write SUPER: the log ends before LSN " + std::to_string(lost_first));
    return words;
}

} // namespace promtact::wal
