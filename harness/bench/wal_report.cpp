// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The comparison of the log with the disk's ceiling as a table and as a record.
#include <algorithm>

#include <promtact/gates/format.hpp>
#include <promtact/gates/text_table.hpp>

#include "bench/report_parts_internal.hpp"
#include "bench/statistics.hpp"
#include "bench/wal_comparison.hpp"

namespace promtact::harness::bench {
namespace {

std::string ratio(std::uint64_t ppm) {
    return gates::ratio_text(ppm, 1'000'000);
}

std::uint64_t median_ops(const std::vector<RunFigures>& runs) {
    std::vector<std::uint64_t> values;
    values.reserve(runs.size());
    for (const RunFigures& run : runs)
        values.push_back(run.operations_per_second);
    return median(values);
}

std::string name_of(const WalJob& job) {
    return std::string(to_string(job.style)) + "_" + std::to_string(job.writers) + "_x_" +
           std::to_string(job.record_bytes);
}

std::string demand_text(const PeerLimits& limits) {
    if (limits.operations_ratio_ppm_min == 0) return "shown";
    return ratio(limits.operations_ratio_ppm_min);
}

void add_row(const WalRow& row, gates::GateRecord& record) {
    const std::string name = name_of(row.job);
    add_interval(name + "_ratio", row.comparison.operations, record);
    record.measurements.push_back(
        {name + "_ratio_min", "ppm", "the least that passes",
         gates::Scalar{row.limits.operations_ratio_ppm_min}});
    record.measurements.push_back(
        {name + "_throughput", "operations_per_second", "median of the runs, records",
         gates::Scalar{median_ops(row.comparison.ours)}});
    record.measurements.push_back(
        {name + "_ceiling", "operations_per_second", "median of fio's runs, times records a write",
         gates::Scalar{median_ops(row.comparison.theirs)}});
    record.measurements.push_back(
        {name + "_latency", "ns", "steady clock from append to outcome, last run",
         row.last.latency});
    record.measurements.push_back(
        {name + "_records_per_sync", "count", "counters of the log, last run",
         gates::Ratio{row.last.records, std::max<std::uint64_t>(1, row.last.syncs)}});
    add_runs(name, row.comparison.ours, record);
    add_runs(name + "_fio", row.comparison.theirs, record);
}

std::string name_of(const StoreRow& row) {
    return std::string(row.store->name) + "_" + std::to_string(row.writers) + "_x_" +
           std::to_string(store_record_bytes);
}

void add_store(const StoreRow& row, gates::GateRecord& record) {
    const std::string name = name_of(row);
    add_interval(name + "_ratio", row.comparison.operations, record);
    record.measurements.push_back(
        {name + "_ratio_min", "ppm", "the least that passes",
         gates::Scalar{row.limits.operations_ratio_ppm_min}});
    record.measurements.push_back(
        {name + "_log", "operations_per_second", "median of the runs, records of the log",
         gates::Scalar{median_ops(row.comparison.ours)}});
    record.measurements.push_back(
        {name + "_store", "operations_per_second",
         "median of the runs, puts with " + std::string(row.store->setting),
         gates::Scalar{median_ops(row.comparison.theirs)}});
    const gates::PeerRecord peer{std::string(row.store->name), row.version};
    if (record.peers.back().name != peer.name) record.peers.push_back(peer);
}

void add_recovery(const RecoveryFigures& figures, gates::GateRecord& record) {
    if (figures.scan.empty()) return;
    record.measurements.push_back(
        {"recovery_scan_per_second", "bytes", "median of the rounds, a log judged at opening",
         gates::Scalar{median(figures.scan)}});
    record.measurements.push_back(
        {"recovery_read_per_second", "bytes", "median of the rounds, its files only read",
         gates::Scalar{median(figures.read)}});
    record.parameters.push_back({"recovery_log_bytes", figures.log_bytes});
}

void conclude(const WalComparison& comparison, gates::GateRecord& record) {
    std::string failed;
    std::string open;
    std::size_t judged = 0;
    const auto judge = [&](const std::string& name, const PeerLimits& limits,
                           const PeerComparison& measured) {
        if (limits.operations_ratio_ppm_min == 0) return;
        ++judged;
        const std::string text = " " + name + " " + ratio(measured.operations.point_ppm) + " of " +
                                 demand_text(limits) + ";";
        if (measured.verdict == PeerVerdict::fail) failed += text;
        if (measured.verdict == PeerVerdict::inconclusive) open += text;
    };
    for (const WalRow& row : comparison.rows)
        judge(name_of(row.job), row.limits, row.comparison);
    for (const StoreRow& row : comparison.stores)
        judge(name_of(row), row.limits, row.comparison);
    if (!comparison.recovery.scan.empty() && !recovers_fast(comparison.recovery))
        failed += " opening is slower than 1 GiB/s and than reading;";
    if (!failed.empty()) {
        record.verdict = gates::Verdict::fail;
        record.reason = "every round excluded the limit:" + failed;
    } else if (!open.empty()) {
        record.verdict = gates::Verdict::error;
        record.reason = "inconclusive:" + open;
        record.remedy = "run again on a quieter machine, or with more -pairs";
    } else {
        record.verdict = gates::Verdict::pass;
        record.summary = std::to_string(judged) + " of " + std::to_string(judged) +
                         " kinds of appends keep their ratio to fio";
    }
}

std::string stores_text(const WalComparison& comparison) {
    gates::TextTable table(
        {"beside", "threads", "bytes", "log/s", "store/s", "ratio", "must be", "verdict",
         "told by"});
    for (const StoreRow& row : comparison.stores) {
        const bool judged = row.limits.operations_ratio_ppm_min != 0;
        table.row(
            {std::string(row.store->name) + " " + row.version, std::to_string(row.writers),
             std::to_string(store_record_bytes), gates::grouped(median_ops(row.comparison.ours)),
             gates::grouped(median_ops(row.comparison.theirs)),
             ratio(row.comparison.operations.point_ppm), demand_text(row.limits),
             judged ? std::string(to_string(row.comparison.verdict)) : "-",
             std::string(row.store->setting)});
    }
    return table.plain();
}

} // namespace

std::string wal_text(const WalComparison& comparison) {
    gates::TextTable table(
        {"appends", "writers", "bytes", "records/s", "ceiling/s", "ratio", "must be", "verdict",
         "p50 ratio", "p50", "p99", "records/sync"});
    for (const WalRow& row : comparison.rows) {
        const RatioInterval& ops = row.comparison.operations;
        table.row(
            {std::string(to_string(row.job.style)), std::to_string(row.job.writers),
             std::to_string(row.job.record_bytes), gates::grouped(median_ops(row.comparison.ours)),
             gates::grouped(median_ops(row.comparison.theirs)),
             ratio(ops.point_ppm) + " [" + ratio(ops.low_ppm) + ", " + ratio(ops.high_ppm) + "]",
             demand_text(row.limits), std::string(to_string(row.comparison.verdict)),
             ratio(row.comparison.p50.point_ppm), gates::duration_text(row.last.latency.p50()),
             gates::duration_text(row.last.latency.p99()),
             gates::ratio_text(row.last.records, std::max<std::uint64_t>(1, row.last.syncs))});
    }
    std::string text = "engine " + std::string(to_string(comparison.engine)) + "\n" + table.plain();
    const RecoveryFigures& recovery = comparison.recovery;
    if (!recovery.scan.empty()) {
        text += "\nopening judges " + gates::grouped(median(recovery.scan) >> 20) +
                " MiB/s, bare reads reach " + gates::grouped(median(recovery.read) >> 20) +
                " MiB/s: " + (recovers_fast(recovery) ? "pass" : "fail") + "\n";
    }
    if (!comparison.stores.empty()) text += "\n" + stores_text(comparison);
    for (const std::string& missing : comparison.missing)
        text += "not measured: " + missing + "\n";
    return text;
}

gates::GateRecord wal_record(
    const WalComparison& comparison, const std::string& fio_version,
    const Circumstances& circumstances) {
    gates::GateRecord record = benchmark_record(circumstances);
    record.id = "wal_vs_fio";
    record.title = "The write-ahead log beside the disk's ceiling";
    record.qualifies = {"wal"};
    record.peers = {{"fio", fio_version}};
    record.establishes =
        "throughput of durable appends by callback, by blocked threads and in an event loop, as a "
        "ratio to fio's io_uring engine (registered buffer and file, direct, fdatasync after each "
        "write) writing the frame that holds one record of every writer, and of blocked threads to "
        "the durable puts of other stores, in interleaved runs";
    record.does_not_establish = "absolute speed, other disks, or survival of a power cut";
    record.parameters.push_back({"engine", std::string(to_string(comparison.engine))});
    for (const WalRow& row : comparison.rows)
        add_row(row, record);
    for (const StoreRow& row : comparison.stores)
        add_store(row, record);
    add_recovery(comparison.recovery, record);
    record.notes = comparison.missing;
    conclude(comparison, record);
    return record;
}

} // namespace promtact::harness::bench
