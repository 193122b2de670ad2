// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "wal_throughput/gate.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <promtact/base/clock.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/wal/log.hpp>

#include "storage_support/direct_target_internal.hpp"
#include "storage_support/guarded_path_internal.hpp"
#include "wal_throughput/ceiling_internal.hpp"

namespace promtact::gates {
namespace {

using wal::Log;
using wal_throughput::Ceiling;

constexpr std::string_view qualified[] = {"wal", "uring"};
constexpr std::string_view required[] = {"direct_io"};
constexpr std::uint64_t ppm = 1'000'000;
constexpr std::uint32_t rounds_min = 5;
constexpr std::uint32_t rounds_max = 15; // while the median is below its limit

struct Row {
    std::string_view name{};
    std::uint32_t writers = 1;
    std::uint32_t record_bytes = 100;
    std::uint64_t limit_ppm = 0; // of the ceiling
};

constexpr Row rows[] = {
    {"writers_1_bytes_100", 1, 100, 950'000},
    {"writers_8_bytes_1024", 8, 1024, 950'000},
    {"writers_64_bytes_1024", 64, 1024, 900'000},
};

/// A closed loop: each of the writers appends anew when its record is durable.
class Writers {
  public:
    Writers(Log& log, std::uint32_t writers, std::uint32_t bytes, std::uint64_t records)
        : log_(&log), writers_(writers), records_(records), payload_(bytes, std::byte{0x5a}) {}

    /// Nanoseconds from the first append to the last acknowledgement.
    Result<std::uint64_t> run() {
        const MonotonicClock clock;
        const std::uint64_t begin = clock.now_ns();
        for (std::uint32_t i = 0; i < writers_; ++i)
            append();
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return ended_ == started_; });
        if (failure_) return *failure_;
        return clock.now_ns() - begin;
    }

  private:
    void append() {
        {
            const std::lock_guard lock(mutex_);
            if (started_ == records_ || failure_) return;
            ++started_;
        }
        const auto lsn = log_->append(payload_, {}, [this](wal::Lsn, Log::Outcome outcome) {
            if (outcome == Log::Outcome::durable) append();
            end(outcome == Log::Outcome::durable
                    ? std::nullopt
                    : std::optional(Error{Errc::io, 0, "an append was not made durable"}));
        });
        if (!lsn) end(lsn.error());
    }
    void end(std::optional<Error> failure) {
        const std::lock_guard lock(mutex_);
        ++ended_;
        if (failure && !failure_) failure_ = std::move(failure);
        if (ended_ == started_) wake_.notify_one();
    }

    Log* log_;
    std::uint32_t writers_;
    std::uint64_t records_;
    std::vector<std::byte> payload_;
    std::mutex mutex_{}; // guards what follows
    std::condition_variable wake_{};
    std::uint64_t started_ = 0;
    std::uint64_t ended_ = 0;
    std::optional<Error> failure_{};
};

struct Figures {
    std::uint64_t log_per_second = 0; // medians
    std::uint64_t ceiling_per_second = 0;
    std::uint64_t ratio_ppm = 0;
    std::uint32_t rounds = 0;
};

std::uint64_t median(std::vector<std::uint64_t> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Rounds of both, one after the other, so that both see the same neighbours.
Result<Figures> measure(const GateContext& context, Log& log, Ceiling& ceiling, const Row& row) {
    const std::uint64_t groups = context.quick() ? 200 : 1000;
    // The control commits every record alone, as a log without group commit does.
    const std::uint32_t writers = context.sabotaged() ? 1 : row.writers;
    const std::uint64_t records = groups * writers;
    const std::uint64_t bytes = std::uint64_t{wal::blocks_for_body(
                                    wal::record_body_bytes(row.record_bytes) * row.writers)} *
                                wal::block_bytes;
    std::vector<std::uint64_t> ours;
    std::vector<std::uint64_t> theirs;
    std::vector<std::uint64_t> ratios;
    Figures figures;
    do {
        context.step(std::string(row.name) + ", round " + std::to_string(ratios.size() + 1));
        PROMTACT_TRY_ASSIGN(const std::uint64_t raw_ns, ceiling.run(bytes, groups));
        PROMTACT_TRY_ASSIGN(
            const std::uint64_t log_ns, Writers(log, writers, row.record_bytes, records).run());
        PROMTACT_TRY(log.release_prefix(log.durable()));
        ours.push_back(records * 1'000'000'000 / log_ns);
        theirs.push_back(groups * row.writers * 1'000'000'000 / raw_ns);
        ratios.push_back(ours.back() * ppm / theirs.back());
        figures.ratio_ppm = median(ratios);
    } while (ratios.size() < rounds_min ||
             (figures.ratio_ppm < row.limit_ppm && ratios.size() < rounds_max));
    figures.log_per_second = median(ours);
    figures.ceiling_per_second = median(theirs);
    figures.rounds = static_cast<std::uint32_t>(ratios.size());
    return figures;
}

void note(GateReport& report, const Row& row, const Figures& figures) {
    const std::string name(row.name);
    report.measurements.push_back(
        {name + "_ratio", "ppm", "median of rounds: the log's records per second to the ceiling's",
         Scalar{figures.ratio_ppm}});
    report.measurements.push_back(
        {name + "_log", "operations_per_second", "median, records acknowledged",
         Scalar{figures.log_per_second}});
    report.measurements.push_back(
        {name + "_ceiling", "operations_per_second",
         "median, records that as many bare writes and flushes of their size would carry",
         Scalar{figures.ceiling_per_second}});
    report.parameters.push_back({name + "_rounds", std::uint64_t{figures.rounds}});
    report.parameters.push_back({name + "_limit_ppm", row.limit_ppm});
    if (figures.ratio_ppm >= row.limit_ppm || !report.reason.empty()) return;
    report.reason = name + ": " + std::to_string(figures.ratio_ppm) + " ppm of the ceiling, " +
                    std::to_string(row.limit_ppm) + " wanted";
}

/// Until the segments kept ready are made, and the one that the first record takes is made again:
/// that work would be measured otherwise.
Result<void> settle(Log& log, std::uint32_t spares) {
    PROMTACT_TRY(log.append_durable({}));
    while (log.stats().spares_made <= spares && !log.poison())
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return {};
}

} // namespace

const GateInfo wal_throughput_info{
    .id = "wal_throughput",
    .tier = Tier::storage,
    .gate_class = GateClass::full,
    .title = "Write-ahead log: durable appends per second, to the ceiling of this host's storage",
    .qualifies = qualified,
    .requires_gates = required,
    .budget = std::chrono::minutes{5},
    .establishes =
        "with its checksums, rotation and group commit the log makes records durable at the stated "
        "share of the rate at which bare io_uring writes of the same size, each flushed, are done "
        "in the same run",
    .does_not_establish = "latency, or the rate next to other programs of this host",
    .control = "commit_alone",
    .control_breaks =
        "every record is committed alone, as by a log without group commit; the share "
        "at many writers must be missed",
    .remedy =
        "run it on an idle machine; if the ratio stays low, run promtact wal bench and report "
        "both"};

Result<GateReport> run_wal_throughput(const GateContext& context) {
    context.step("guard the log's directory");
    PROMTACT_TRY_ASSIGN(
        const GuardedPath directory,
        GuardedPath::watch(
            target_directory(context) / ("promtact-wal-throughput-" + std::to_string(::getpid())),
            GuardedPath::Kind::directory));
    context.step("prepare the ceiling's file");
    PROMTACT_TRY_ASSIGN(const ScratchFile file, direct_scratch(context));
    PROMTACT_TRY_ASSIGN(const auto ceiling, Ceiling::open(file));
    context.step("create the log");
    wal::LogConfig config;
    config.log.open = wal::LogOptions::Open::create;
    config.only = wal::Engine::inline_sync;
    PROMTACT_TRY_ASSIGN(const auto log, Log::open(directory.path(), config));
    PROMTACT_TRY(settle(*log, config.log.spares));

    GateReport report{.verdict = Verdict::pass};
    report.parameters = {
        {"sample", std::string(to_string(context.options().sample))},
        {"segment_bytes", config.log.segment_bytes},
        {"filesystem", uring::filesystem_name(file.fd())}};
    std::uint64_t lowest = ~std::uint64_t{0};
    for (const Row& row : rows) {
        PROMTACT_TRY_ASSIGN(const Figures figures, measure(context, *log, *ceiling, row));
        note(report, row, figures);
        lowest = std::min(lowest, figures.ratio_ppm * ppm / row.limit_ppm);
    }
    context.step("close the log");
    PROMTACT_TRY(log->close());
    context.step("judge");
    if (!report.reason.empty()) {
        report.verdict = Verdict::fail;
        return report;
    }
    report.summary = "every row above its share of the ceiling, the closest by " +
                     std::to_string(lowest / 10'000 - 100) + " %";
    return report;
}

} // namespace promtact::gates
