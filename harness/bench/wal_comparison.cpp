// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/wal_comparison.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

#include <promtact/base/scratch_file.hpp>

#include "bench/job.hpp"

namespace promtact::harness::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t fio_region_bytes = std::uint64_t{64} << 20;
constexpr std::uint32_t wal_rounds_max = 4; // of a row that does not pass

// A directory for the logs, gone afterwards.
class BenchDirectory {
  public:
    static Result<BenchDirectory> make(const fs::path& where) {
        std::string pattern = (where / "promtact-wal-bench-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            return Error::from_errno(errno, "make a directory in " + where.string());
        return BenchDirectory(pattern);
    }
    BenchDirectory(BenchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    BenchDirectory& operator=(BenchDirectory&&) = delete;
    BenchDirectory(const BenchDirectory&) = delete;
    BenchDirectory& operator=(const BenchDirectory&) = delete;
    ~BenchDirectory() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    [[nodiscard]] const fs::path& path() const noexcept { return path_; }

  private:
    explicit BenchDirectory(fs::path path) : path_(std::move(path)) {}
    fs::path path_;
};

// The two fronts of the log, each with a directory of its own.
class Fronts {
  public:
    static Result<Fronts> open(const fs::path& directory, const WalPlan& plan) {
        wal::LogConfig config;
        config.log.open = wal::LogOptions::Open::create;
        config.only = plan.engine;
        config.allow_buffered = false;
        Fronts fronts;
        PROMTACT_TRY_ASSIGN(fronts.threads_, wal::Log::open(directory / "threads", config));
        config.only = wal::Engine::ring_sync;
        PROMTACT_TRY_ASSIGN(fronts.loop_, wal::LoopLog::open(directory / "loop", config));
        PROMTACT_TRY(fronts.settle(config.log.spares));
        return fronts;
    }
    Result<WalRun> run(const WalJob& job) const {
        if (job.style == AppendStyle::loop) {
            PROMTACT_TRY_ASSIGN(WalRun done, run_wal(*loop_, job));
            PROMTACT_TRY(loop_->core().release_prefix(loop_->core().durable()));
            return done;
        }
        PROMTACT_TRY_ASSIGN(WalRun done, run_wal(*threads_, job));
        PROMTACT_TRY(threads_->release_prefix(threads_->durable()));
        return done;
    }
    [[nodiscard]] wal::Engine engine() const { return threads_->engine(); }
    Result<void> close() const { return threads_->close(); }

  private:
    // Until the segments kept ready are made, and the one that the first record takes is made
    // again: that work would be measured otherwise.
    Result<void> settle(std::uint32_t spares) const {
        const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds{1}); };
        PROMTACT_TRY(loop_->append({}));
        loop_->turn();
        for (; !loop_->core().idle() && !loop_->core().poisoned(); pause())
            loop_->turn();
        std::array<wal::AppendDone, 1> settled{}; // or a run would be told of it
        while (loop_->take_done(settled) > 0) {
        }
        PROMTACT_TRY(threads_->append_durable({}));
        while (threads_->stats().spares_made <= spares && !threads_->poison())
            pause();
        return {};
    }

    std::unique_ptr<wal::Log> threads_{};
    std::unique_ptr<wal::LoopLog> loop_{};
};

Result<WalRow>
measure(const Fronts& fronts, const WalJob& job, const ScratchFile& file, const WalPlan& wal_plan) {
    WalRow row{.job = job, .limits = limits_of(job)};
    const Ceiling ceiling = ceiling_of(job, wal::LogOptions{}.frame_bytes_max);
    PeerPlan plan;
    plan.blocks = static_cast<std::uint32_t>((wal_plan.pairs + 1) / 2);
    plan.rounds_max = wal_rounds_max;
    plan.seed = wal_plan.seed;
    plan.limits = row.limits;
    plan.ours = [&]() -> Result<RunFigures> {
        PROMTACT_TRY_ASSIGN(row.last, fronts.run(job));
        return RunFigures{
            .operations_per_second = row.last.records_per_second(),
            .p50_ns = row.last.latency.p50()};
    };
    plan.theirs = [&]() -> Result<RunFigures> {
        const std::uint64_t operations =
            std::max<std::uint64_t>(200, job.records / ceiling.records);
        PROMTACT_TRY_ASSIGN(
            const FioFigures fio,
            run_fio(
                file,
                {.operations = operations,
                 .write_bytes = ceiling.write_bytes,
                 .region_bytes = fio_region_bytes / ceiling.write_bytes * ceiling.write_bytes}));
        return RunFigures{
            .operations_per_second = fio.operations_per_second * ceiling.records,
            .p50_ns = fio.operation_p50()};
    };
    PROMTACT_TRY_ASSIGN(row.comparison, compare_with_peer(plan));
    return row;
}

Result<StoreRow> measure_store(
    const Fronts& fronts, const StorePeer& peer, std::uint32_t writers, const WalPlan& wal_plan,
    const fs::path& directory) {
    StoreRow row{.store = &peer, .writers = writers};
    row.limits = {
        .operations_ratio_ppm_min = writers == 64 ? peer.ratio_ppm_min : 0,
        .p50_ratio_ppm_max = std::numeric_limits<std::uint64_t>::max()};
    PROMTACT_TRY_ASSIGN(const BenchDirectory place, BenchDirectory::make(directory));
    PROMTACT_TRY_ASSIGN(const auto store, peer.open(place.path(), writers, row.version));
    const std::uint64_t each = std::max<std::uint64_t>(10, wal_plan.scale);
    PeerPlan plan;
    plan.blocks = static_cast<std::uint32_t>((wal_plan.pairs + 1) / 2);
    plan.rounds_max = row.limits.operations_ratio_ppm_min == 0 ? 1 : wal_rounds_max;
    plan.seed = wal_plan.seed;
    plan.limits = row.limits;
    plan.ours = [&]() -> Result<RunFigures> {
        PROMTACT_TRY_ASSIGN(
            const WalRun run, fronts.run(
                                  {.style = AppendStyle::blocking,
                                   .writers = writers,
                                   .record_bytes = store_record_bytes,
                                   .records = writers * each}));
        return RunFigures{
            .operations_per_second = run.records_per_second(), .p50_ns = run.latency.p50()};
    };
    plan.theirs = [&] { return run_store(*store, writers, each, store_record_bytes); };
    PROMTACT_TRY_ASSIGN(row.comparison, compare_with_peer(plan));
    return row;
}

Result<void> measure_stores(
    const Fronts& fronts, const WalPlan& plan, const fs::path& directory,
    WalComparison& comparison) {
    for (const StorePeer& peer : store_peers()) {
        for (const std::uint32_t writers : {1U, 8U, 64U}) {
            auto row = measure_store(fronts, peer, writers, plan, directory);
            if (!row && row.error().code == Errc::unsupported) {
                comparison.missing.push_back(std::string(peer.name) + ": " + row.error().context);
                break;
            }
            if (!row) return row.error();
            if (plan.after_store) plan.after_store(*row);
            comparison.stores.push_back(std::move(*row));
        }
    }
    return {};
}

} // namespace

std::vector<WalJob> wal_jobs(const WalPlan& plan) {
    std::vector<WalJob> jobs;
    for (const AppendStyle style :
         {AppendStyle::callback, AppendStyle::blocking, AppendStyle::loop}) {
        if (plan.only && *plan.only != style) continue;
        for (const std::uint32_t bytes : {100U, 1024U, 16384U}) {
            for (const std::uint32_t writers : {1U, 8U, 64U}) {
                const std::uint64_t each = bytes > 4096 ? 4 : 8;
                const std::uint64_t records =
                    std::max<std::uint64_t>(writers * each, 10) * plan.scale;
                jobs.push_back(
                    {.style = style,
                     .writers = writers,
                     .record_bytes = bytes,
                     .records = records});
            }
        }
    }
    return jobs;
}

PeerLimits limits_of(const WalJob& job) noexcept {
    PeerLimits limits{
        .operations_ratio_ppm_min = 950'000,
        .p50_ratio_ppm_max = std::numeric_limits<std::uint64_t>::max()};
    const bool many = job.writers >= 64;
    switch (job.style) {
    case AppendStyle::callback:
        if (many) limits.operations_ratio_ppm_min = job.record_bytes > 4096 ? 750'000 : 900'000;
        if (job.writers == 1) limits.p50_ratio_ppm_max = 1'150'000;
        break;
    case AppendStyle::blocking:
        limits.operations_ratio_ppm_min = many ? 280'000 : job.writers > 1 ? 500'000 : 0;
        break;
    case AppendStyle::loop:
        if (many) limits.operations_ratio_ppm_min = 850'000;
        if (job.writers > 1 && !many) limits.operations_ratio_ppm_min = 900'000;
        break;
    }
    return limits;
}

Result<WalComparison> compare_wal(const WalPlan& plan) {
    PROMTACT_TRY_ASSIGN(const BenchDirectory directory, BenchDirectory::make(plan.directory));
    PROMTACT_TRY_ASSIGN(const Fronts fronts, Fronts::open(directory.path(), plan));
    PROMTACT_TRY_ASSIGN(
        const ScratchFile file,
        prepare_file(plan.directory, Layout::overwritten, fio_region_bytes / block_bytes));
    WalComparison comparison{.engine = fronts.engine()};
    for (const WalJob& job : wal_jobs(plan)) {
        PROMTACT_TRY_ASSIGN(WalRow row, measure(fronts, job, file, plan));
        if (plan.after_row) plan.after_row(row);
        comparison.rows.push_back(std::move(row));
    }
    if (plan.stores) PROMTACT_TRY(measure_stores(fronts, plan, directory.path(), comparison));
    PROMTACT_TRY(fronts.close());
    PROMTACT_TRY_ASSIGN(
        comparison.recovery,
        measure_recovery(directory.path() / "recovery", std::uint64_t{512} << 20, plan.pairs));
    return comparison;
}

} // namespace promtact::harness::bench
