// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/report.hpp"

#include <algorithm>

#include <promtact/base/sha256.hpp>
#include <promtact/gates/campaign.hpp>
#include <promtact/gates/format.hpp>
#include <promtact/gates/host_facts.hpp>
#include <promtact/gates/text_table.hpp>

namespace promtact::harness::bench {
namespace {

using gates::Ratio;
using gates::Scalar;

std::string median_text(const RungResult& rung) {
    return gates::grouped(median(rung.ops_per_round));
}

std::string spread_text(const RungResult& rung) {
    const auto [low, high] =
        std::minmax_element(rung.ops_per_round.begin(), rung.ops_per_round.end());
    return gates::grouped(*low) + "-" + gates::grouped(*high);
}

std::vector<std::string> row_of(const RungResult& rung, std::uint64_t first_ops) {
    const JobResult& total = rung.total;
    const auto per_operation = [&](std::uint64_t amount) {
        return total.traffic ? gates::ratio_text(amount, total.operations) : std::string("-");
    };
    const DiskTraffic traffic = total.traffic.value_or(DiskTraffic{});
    return {
        rung.job.name,
        median_text(rung),
        spread_text(rung),
        gates::duration_text(total.latency.p50()),
        gates::duration_text(total.latency.p99()),
        gates::duration_text(total.latency.p999()),
        gates::duration_text(total.cpu_ns / std::max<std::uint64_t>(1, total.operations)),
        per_operation(traffic.flushes),
        per_operation(traffic.write_bytes / 1024),
        gates::ratio_text(median(rung.ops_per_round), first_ops)};
}

void add_rung(const RungResult& rung, gates::GateRecord& record) {
    const std::string& name = rung.job.name;
    if (!rung.failure.empty()) {
        record.notes.push_back(name + " could not run: " + rung.failure);
        return;
    }
    const JobResult& total = rung.total;
    record.measurements.push_back(
        {name + "_latency", "ns", "steady clock around each operation, all rounds", total.latency});
    record.measurements.push_back(
        {name + "_throughput", "operations_per_second", "median of the rounds",
         Scalar{median(rung.ops_per_round)}});
    if (total.traffic && total.operations > 0) {
        record.measurements.push_back(
            {name + "_flushes_per_operation", "count", "flush counter of /sys/block/*/stat",
             Ratio{total.traffic->flushes, total.operations}});
        record.measurements.push_back(
            {name + "_device_bytes_per_operation", "bytes", "write sectors of /sys/block/*/stat",
             Ratio{total.traffic->write_bytes, total.operations}});
    }
    record.samples.push_back({name, "operations_per_second", rung.ops_per_round});
}

std::string interval_text(const RatioInterval& interval) {
    const auto ratio = [](std::uint64_t ppm) { return gates::ratio_text(ppm, 1'000'000); };
    return ratio(interval.point_ppm) + " [" + ratio(interval.low_ppm) + ", " +
           ratio(interval.high_ppm) + "]";
}

} // namespace

gates::GateRecord benchmark_record(const Circumstances& circumstances) {
    gates::GateRecord record;
    record.kind = gates::RecordKind::benchmark;
    record.tier = "storage";
    record.gate_class = "full";
    record.sample = "full";
    record.qualifies = {"uring"};
    record.run = circumstances.run;
    record.parameters = circumstances.parameters;
    record.parameters.push_back({"block_bytes", std::uint64_t{block_bytes}});
    return record;
}

void add_interval(
    const std::string& name, const RatioInterval& interval, gates::GateRecord& record) {
    const std::string method =
        "geometric mean of paired ratios ours/fio, 95 % percentile bootstrap over pairs";
    const auto add = [&](const char* part, std::uint64_t value) {
        record.measurements.push_back({name + part, "ppm", method, Scalar{value}});
    };
    add("", interval.point_ppm);
    add("_low", interval.low_ppm);
    add("_high", interval.high_ppm);
}

void add_runs(
    const std::string& side, const std::vector<RunFigures>& runs, gates::GateRecord& record) {
    gates::SampleSeries ops{side + "_throughput", "operations_per_second", {}};
    gates::SampleSeries p50{side + "_p50", "ns", {}};
    for (const RunFigures& run : runs) {
        ops.values.push_back(run.operations_per_second);
        p50.values.push_back(run.p50_ns);
    }
    record.samples.push_back(std::move(ops));
    record.samples.push_back(std::move(p50));
}

std::string ladder_text(const std::vector<SectionResult>& results) {
    std::string text;
    for (const SectionResult& result : results) {
        text += result.section.title + ". " + result.section.question + "\n";
        gates::TextTable table(
            {"rung", "ops/s", "min-max", "p50", "p99", "p99.9", "cpu/op", "flushes/op", "KiB/op",
             "vs first"});
        std::string failures;
        std::uint64_t first = 0;
        for (const RungResult& rung : result.rungs) {
            if (!rung.failure.empty()) {
                failures += "  " + rung.job.name + " could not run: " + rung.failure + "\n";
                continue;
            }
            if (first == 0) first = median(rung.ops_per_round);
            table.row(row_of(rung, first));
        }
        text += table.plain() + failures + "\n";
    }
    return text;
}

gates::GateRecord
ladder_record(const std::vector<SectionResult>& results, const Circumstances& circumstances) {
    gates::GateRecord record = benchmark_record(circumstances);
    record.id = "storage_ladder";
    record.title = "Storage ladder: layout, method, depth, group";
    record.verdict = gates::Verdict::pass;
    record.establishes =
        "how layout, flush method, queue depth and group size change throughput, latency, flushes "
        "and device bytes of durable writes on this host, in interleaved rounds of one run";
    record.does_not_establish =
        "survival of a power cut, or figures of another host, filesystem or load";
    std::size_t rungs = 0;
    std::size_t failed = 0;
    for (const SectionResult& result : results) {
        for (const RungResult& rung : result.rungs) {
            add_rung(rung, record);
            ++rungs;
            failed += rung.failure.empty() ? 0 : 1;
        }
    }
    record.summary = std::to_string(rungs - failed) + " of " + std::to_string(rungs) + " rungs ran";
    return record;
}

std::string round_text(const PeerComparison& comparison) {
    std::vector<std::uint64_t> ours;
    std::vector<std::uint64_t> theirs;
    for (const RunFigures& run : comparison.ours)
        ours.push_back(run.operations_per_second);
    for (const RunFigures& run : comparison.theirs)
        theirs.push_back(run.operations_per_second);
    const std::string figures = "ours " + gates::grouped(median(ours)) + " ops/s, fio " +
                                gates::grouped(median(theirs)) + " ops/s (medians of " +
                                std::to_string(ours.size()) + ")";
    return figures + "; ops ratio " + interval_text(comparison.operations) + ", p50 ratio " +
           interval_text(comparison.p50);
}

gates::GateRecord peer_record(
    const PeerComparison& comparison, const PeerLimits& limits, SyncKind sync,
    const std::string& fio_version, const Circumstances& circumstances) {
    gates::GateRecord record = benchmark_record(circumstances);
    record.id = "commit_path_vs_fio_" + std::string(to_string(sync));
    record.title = "Commit path beside fio, " + std::string(to_string(sync)) + " after each write";
    record.peers = {{"fio", fio_version}};
    record.establishes =
        "throughput and median latency of one 4 KiB write and its flush at a time over existing "
        "blocks, as a ratio to fio's io_uring engine with registered buffer and file on the same "
        "file in interleaved ABBA runs";
    record.does_not_establish = "absolute speed, deeper queues, or survival of a power cut";
    add_interval("operations_ratio", comparison.operations, record);
    add_interval("p50_ratio", comparison.p50, record);
    add_runs("ours", comparison.ours, record);
    add_runs("fio", comparison.theirs, record);
    record.parameters.push_back({"rounds", std::uint64_t{comparison.rounds}});
    record.parameters.push_back({"pairs", std::uint64_t{comparison.ours.size()}});
    record.parameters.push_back({"operations_ratio_ppm_min", limits.operations_ratio_ppm_min});
    record.parameters.push_back({"p50_ratio_ppm_max", limits.p50_ratio_ppm_max});
    record.notes.emplace_back(
        "p50 is the sum of the p50 of writes and of syncs on both sides, since fio keeps no "
        "histogram of the pair; fio times a sync from the end of its submission, so its mean time "
        "outside both is added to its p50 (docs/decisions/0015)");
    const std::string found = "ops ratio " + interval_text(comparison.operations) + ", p50 ratio " +
                              interval_text(comparison.p50);
    switch (comparison.verdict) {
    case PeerVerdict::pass:
        record.verdict = gates::Verdict::pass;
        record.summary = found;
        break;
    case PeerVerdict::fail:
        record.verdict = gates::Verdict::fail;
        record.reason = "every round excluded the limits: " + found;
        break;
    case PeerVerdict::inconclusive:
        record.verdict = gates::Verdict::error;
        record.reason =
            "inconclusive after " + std::to_string(comparison.rounds) + " rounds: " + found;
        record.remedy = "run again on a quieter machine, or with more -blocks";
        break;
    }
    return record;
}

Result<std::filesystem::path> publish(
    std::vector<gates::GateRecord>& records, const std::filesystem::path& hosts,
    const std::string& host, const std::filesystem::path& directory, std::int64_t started) {
    PROMTACT_ASSERT(!records.empty());
    gates::HostFacts facts = gates::collect_host_facts(host, directory);
    if (facts.name.empty()) facts.name = gates::default_host_name(facts.machine);
    if (hosts.empty()) {
        const std::string text = gates::to_json(facts);
        const std::string reference = "host.json#sha256:" + to_hex(sha256(text));
        for (gates::GateRecord& record : records)
            record.host = reference;
        return std::filesystem::path{};
    }
    PROMTACT_TRY_ASSIGN(
        gates::CampaignWriter writer, gates::CampaignWriter::open(hosts, facts.name));
    PROMTACT_TRY(writer.write_host(facts));
    for (gates::GateRecord& record : records)
        PROMTACT_TRY(writer.add(record));
    return writer.finish(started, records.front().run.commit);
}

} // namespace promtact::harness::bench
