// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <promtact/uring/block_writer.hpp>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/durable_write_internal.hpp"
#include "storage_support/flush_evidence_internal.hpp"

namespace promtact::gates {
namespace {

using Clock = std::chrono::steady_clock;
using uring::BlockWriter;
using uring::WriteMode;

constexpr std::uint32_t block_bytes = uring::block_bytes;

std::uint64_t elapsed_ns(Clock::time_point start) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

// What the operations of all segments added up to.
struct Tally {
    Histogram latency{};
    std::vector<FlushSegment> segments{};
    DiskTraffic traffic{};
    std::uint64_t busy_ns = 0;
};

// Others are watched as long as the last stretch of ours took, within bounds that keep a slow disk
// inside the budget and a fast one measurable.
Result<void> watch_idle(const DiskWatch& watch, std::uint64_t like_ns, FlushSegment& segment) {
    const std::uint64_t ns = std::clamp<std::uint64_t>(like_ns, 2'000'000, 200'000'000);
    PROMTACT_TRY_ASSIGN(const DiskTraffic before, watch.read());
    const auto start = Clock::now();
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
    segment.idle_ns = elapsed_ns(start);
    PROMTACT_TRY_ASSIGN(const DiskTraffic after, watch.read());
    segment.idle_flushes = (after - before).flushes;
    return {};
}

Result<void> write_segment(
    BlockWriter& writer, const DiskWatch& watch, const DurableTarget& target, std::uint64_t seed,
    std::uint64_t first_operation, FlushSegment& segment, Tally& tally) {
    std::array<std::byte, block_bytes> block{};
    PROMTACT_TRY_ASSIGN(const DiskTraffic before, watch.read());
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < segment.operations; ++i) {
        const std::uint64_t number = first_operation + i;
        fill_pattern(block, seed, number);
        const auto begin = Clock::now();
        PROMTACT_TRY(writer.durable_write(target.first_byte + number * block_bytes, block));
        const std::uint64_t took = elapsed_ns(begin);
        tally.latency.record(took);
        tally.busy_ns += took;
    }
    segment.active_ns = elapsed_ns(start);
    PROMTACT_TRY_ASSIGN(const DiskTraffic after, watch.read());
    segment.active_flushes = (after - before).flushes;
    tally.traffic += after - before;
    return {};
}

Result<Tally> write_all(
    const GateContext& context, BlockWriter& writer, const DiskWatch& watch,
    const DurableTarget& target) {
    const DurablePlan plan = durable_plan(context);
    Tally tally;
    std::uint64_t like_ns = 0;
    for (std::uint64_t s = 0; s < plan.segments; ++s) {
        const std::string of = std::to_string(s + 1) + "/" + std::to_string(plan.segments);
        FlushSegment segment{.operations = plan.operations_per_segment};
        context.step("watch the disk idle " + of);
        PROMTACT_TRY(watch_idle(watch, like_ns, segment));
        context.step("durable writes " + of);
        PROMTACT_TRY(write_segment(
            writer, watch, target, context.options().seed, s * plan.operations_per_segment, segment,
            tally));
        like_ns = segment.active_ns;
        tally.segments.push_back(segment);
    }
    return tally;
}

void add_parameters(
    const GateContext& context, const DurableTarget& target, const DiskWatch& watch,
    const BlockWriter& writer, WriteMode mode, GateReport& report) {
    const DurablePlan plan = durable_plan(context);
    const BlockDeviceFacts& disk = watch.disks().front();
    report.parameters = {
        {"operations", plan.operations()},
        {"segments", plan.segments},
        {"sample", std::string(to_string(context.options().sample))},
        {"block_bytes", std::uint64_t{block_bytes}},
        {"queue_depth", std::uint64_t{1}},
        {"write_mode", std::string(uring::to_string(mode))},
        {"ring_mode", std::string(uring::to_string(writer.ring_setup().mode))},
        {"target", target.kind},
        {"filesystem", target.filesystem},
        {"device", target.device.name},
        {"disks", watch.names()},
        {"write_cache", disk.write_cache.empty() ? "unknown" : disk.write_cache},
        {"fua", disk.fua ? (*disk.fua ? "yes" : "no") : std::string("unknown")},
        {"logical_sector_bytes", std::uint64_t{disk.logical_sector_bytes}},
        {"physical_sector_bytes", std::uint64_t{disk.physical_sector_bytes}},
        {"scheduler", disk.scheduler.empty() ? "unknown" : disk.scheduler}};
}

void add_measurements(const Tally& tally, GateReport& report) {
    const std::uint64_t operations = tally.latency.count();
    const std::uint64_t ns = std::max<std::uint64_t>(1, tally.busy_ns);
    report.measurements = {
        {"durable_write_latency", "ns",
         "steady clock around each write and its flush, nearest-rank percentiles", tally.latency},
        {"throughput", "operations_per_second", "operations divided by the sum of their latencies",
         Scalar{operations * 1'000'000'000 / ns}},
        {"flushes_per_operation", "count", "flush counter of /sys/block/*/stat while writing",
         Ratio{tally.traffic.flushes, operations}},
        {"device_bytes_per_operation", "bytes", "write sectors of /sys/block/*/stat while writing",
         Ratio{tally.traffic.write_bytes, operations}}};
}

Error undeterminable(const DiskWatch& watch, const FlushJudgement& judgement) {
    return Error{
        Errc::unsupported, 0,
        "tell our flushes of " + watch.names() + " from those of other writers: they sent " +
            std::to_string(judgement.background) +
            " during each stretch of ours; run on a quieter disk (--directory)"};
}

// A disk with a volatile cache must have counted our flushes; one without gets none from the
// kernel, so there the completed FSYNC requests are the evidence.
Result<void> judge_durability(
    const DiskWatch& watch, const Tally& tally, std::uint64_t flushes_completed,
    GateReport& report) {
    const std::uint64_t operations = tally.latency.count();
    if (!watch.expects_flushes()) {
        report.notes.push_back(
            "the write cache of " + watch.names() +
            " is write through: the kernel sends it no flush, so the completed FSYNC requests were "
            "counted instead of flushes at the disk");
        if (flushes_completed >= operations) return {};
        report.verdict = Verdict::fail;
        report.reason = std::to_string(flushes_completed) + " FSYNC requests completed for " +
                        std::to_string(operations) + " writes reported durable";
        return {};
    }
    const FlushJudgement judgement = judge_flushes(tally.segments);
    if (judgement.evidence == FlushEvidence::undeterminable)
        return undeterminable(watch, judgement);
    if (judgement.background > 0) {
        report.notes.push_back(
            "other writers flushed " + watch.names() + " too: " +
            std::to_string(judgement.background) + " flushes per stretch were not counted as ours");
    }
    if (judgement.evidence == FlushEvidence::seen) return {};
    report.verdict = Verdict::fail;
    report.reason = "the write cache of " + watch.names() + " is volatile, yet only " +
                    std::to_string(tally.traffic.flushes) + " flushes reached it for " +
                    std::to_string(operations) + " writes reported durable";
    report.remedy = "look for nobarrier among the mount options, and for a layer below (RAID "
                    "controller, hypervisor) that ignores flushes";
    return {};
}

} // namespace

DurablePlan durable_plan(const GateContext& context) noexcept {
    return {.segments = 10, .operations_per_segment = context.quick() ? 40U : 1000U};
}

Result<GateReport>
run_durable_writes(const GateContext& context, DurableTarget target, WriteMode mode) {
    const DurablePlan plan = durable_plan(context);
    PROMTACT_TRY_ASSIGN(const DiskWatch watch, DiskWatch::below(target.device));
    context.step("open a ring with registered buffer and file");
    PROMTACT_TRY_ASSIGN(
        BlockWriter writer,
        BlockWriter::open(std::exchange(target.writer, {}), {.mode = mode, .depth = 1}));
    GateReport report{.verdict = Verdict::pass};
    add_parameters(context, target, watch, writer, mode, report);
    PROMTACT_TRY_ASSIGN(const Tally tally, write_all(context, writer, watch, target));
    const std::uint64_t flushes_completed = writer.stats().flushes;
    context.step("close the writer");
    PROMTACT_TRY(writer.close());
    add_measurements(tally, report);
    context.step("read back through a second descriptor");
    PROMTACT_TRY_ASSIGN(
        const auto difference,
        first_difference(
            target.reader.get(), target.first_byte, plan.operations(), context.options().seed));
    context.step("judge");
    if (difference) {
        report.verdict = Verdict::fail;
        report.reason = "block " + std::to_string(*difference) +
                        " read back through a second O_DIRECT descriptor differs from what was "
                        "reported durable";
        return report;
    }
    PROMTACT_TRY(judge_durability(watch, tally, flushes_completed, report));
    report.summary = std::to_string(plan.operations()) + " durable writes, read back, " +
                     (watch.expects_flushes() ? "flushes seen at " : "write through at ") +
                     watch.names();
    return report;
}

} // namespace promtact::gates
