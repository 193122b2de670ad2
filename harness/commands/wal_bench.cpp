// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal bench: the log beside the most this disk can do.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/error_text.hpp>
#include <promtact/gates/format.hpp>
#include <promtact/gates/text_table.hpp>
#include <promtact/harness/flags.hpp>

#include "bench/peer.hpp"
#include "bench/wal_run.hpp"
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;
using bench::AppendStyle;
using bench::WalJob;

constexpr std::string_view footer =
    R"(The ceiling: fio's io_uring engine (registered buffer and file, O_DIRECT, fdatasync after each
write) writes the frame that holds one record of every writer, times the records in it. Ours and fio
run in turns on the same filesystem; the ratio is the geometric mean over the pairs, with its 95 %
interval. The log has rotation, checksums and durability hints on.
)";

struct Options {
    std::string directory = ".";
    std::string engine = "best";
    std::uint64_t pairs = 5;
    std::uint64_t scale = 100;
};

int fail(const std::string& message, int code) {
    std::fprintf(stderr, "promtact wal bench: %s\n", message.c_str());
    return code;
}

int exit_of(const Error& error) {
    return error.code == Errc::unsupported || error.code == Errc::denied ? 77 : 1;
}

std::optional<wal::Engine> engine_named(const std::string& name) {
    for (const wal::Engine engine :
         {wal::Engine::inline_sync, wal::Engine::ring_sync, wal::Engine::pwrite,
          wal::Engine::buffered})
        if (to_string(engine) == name) return engine;
    return std::nullopt;
}

std::vector<WalJob> jobs(std::uint64_t scale) {
    std::vector<WalJob> all;
    for (const AppendStyle style : {AppendStyle::callback, AppendStyle::blocking}) {
        for (const std::uint32_t bytes : {100U, 1024U, 16384U}) {
            for (const std::uint32_t writers : {1U, 8U, 64U}) {
                all.push_back(
                    {.style = style,
                     .writers = writers,
                     .record_bytes = bytes,
                     .records = std::max<std::uint64_t>(
                         writers * (bytes > 4096 ? 4 : 8) * scale, std::uint64_t{10} * scale)});
            }
        }
    }
    return all;
}

// A directory for the log, gone afterwards.
class BenchDirectory {
  public:
    static Result<BenchDirectory> make(const std::string& where) {
        std::string pattern = (fs::path(where) / "promtact-wal-bench-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            return Error::from_errno(errno, "make a directory in " + where);
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

struct Row {
    WalJob job{};
    bench::PeerComparison comparison{};
    bench::WalRun last{};
};

Result<Row> measure(
    wal::Log& log, const WalJob& job, const ScratchFile& file, std::uint64_t region,
    const Options& options) {
    Row row{.job = job};
    const bench::Ceiling ceiling = bench::ceiling_of(job, wal::LogOptions{}.frame_bytes_max);
    bench::PeerPlan plan;
    plan.blocks = static_cast<std::uint32_t>((options.pairs + 1) / 2);
    plan.rounds_max = 1;
    plan.ours = [&]() -> Result<bench::RunFigures> {
        PROMTACT_TRY_ASSIGN(row.last, bench::run_wal(log, job));
        PROMTACT_TRY(log.release_prefix(log.durable()));
        return bench::RunFigures{
            .operations_per_second = row.last.records_per_second(),
            .p50_ns = row.last.latency.p50()};
    };
    plan.theirs = [&]() -> Result<bench::RunFigures> {
        const std::uint64_t operations =
            std::max<std::uint64_t>(200, job.records / ceiling.records);
        PROMTACT_TRY_ASSIGN(
            const bench::FioFigures fio,
            bench::run_fio(
                file, {.operations = operations,
                       .write_bytes = ceiling.write_bytes,
                       .region_bytes = region / ceiling.write_bytes * ceiling.write_bytes}));
        return bench::RunFigures{
            .operations_per_second = fio.operations_per_second * ceiling.records,
            .p50_ns = fio.operation_p50()};
    };
    PROMTACT_TRY_ASSIGN(row.comparison, bench::compare_with_peer(plan));
    return row;
}

std::uint64_t median_ops(const std::vector<bench::RunFigures>& runs) {
    std::vector<std::uint64_t> values;
    values.reserve(runs.size());
    for (const bench::RunFigures& run : runs)
        values.push_back(run.operations_per_second);
    return bench::median(values);
}

std::vector<std::string> words_of(const Row& row) {
    const auto ratio = [](std::uint64_t ppm) { return gates::ratio_text(ppm, 1'000'000); };
    const bench::RatioInterval& ops = row.comparison.operations;
    return {
        row.job.style == AppendStyle::callback ? "callback" : "blocking",
        std::to_string(row.job.writers),
        std::to_string(row.job.record_bytes),
        gates::grouped(median_ops(row.comparison.ours)),
        gates::grouped(median_ops(row.comparison.theirs)),
        ratio(ops.point_ppm) + " [" + ratio(ops.low_ppm) + ", " + ratio(ops.high_ppm) + "]",
        ratio(row.comparison.p50.point_ppm),
        gates::duration_text(row.last.latency.p50()),
        gates::duration_text(row.last.latency.p99()),
        gates::ratio_text(row.last.records, std::max<std::uint64_t>(1, row.last.syncs))};
}

Result<void> run(const Options& options) {
    PROMTACT_TRY_ASSIGN(const BenchDirectory directory, BenchDirectory::make(options.directory));
    wal::LogConfig config;
    config.log.open = wal::LogOptions::Open::create;
    config.only = engine_named(options.engine);
    config.allow_buffered = false;
    PROMTACT_TRY_ASSIGN(const auto log, wal::Log::open(directory.path(), config));
    constexpr std::uint64_t region = std::uint64_t{64} << 20;
    PROMTACT_TRY_ASSIGN(
        const ScratchFile file,
        bench::prepare_file(
            options.directory, bench::Layout::overwritten, region / bench::block_bytes));
    std::printf("engine %s\n", std::string(to_string(log->engine())).c_str());
    gates::TextTable table(
        {"appends", "writers", "bytes", "records/s", "ceiling/s", "ratio", "p50 ratio", "p50",
         "p99", "records/sync"});
    for (const WalJob& job : jobs(options.scale)) {
        PROMTACT_TRY_ASSIGN(const Row row, measure(*log, job, file, region, options));
        table.row(words_of(row));
        std::fprintf(stderr, "%s\n", words_of(row)[5].c_str());
    }
    std::fputs(table.plain().c_str(), stdout);
    return log->close();
}

} // namespace

int wal_bench(std::span<const std::string> words) {
    Options options;
    FlagSet flags("promtact wal bench", "Measures appends beside the disk's ceiling.");
    flags.text("dir,directory", options.directory, "where the log and fio's file are made");
    flags.choice(
        "engine", options.engine, {"best", "inline_sync", "ring_sync", "pwrite"},
        "how the log reaches its disk");
    flags.number("pairs", options.pairs, 2, 100, "runs of each side per row");
    flags.number("scale", options.scale, 1, 10'000, "length of a run");
    flags.footer(footer);
    if (const auto exit = flags.parse(words)) return *exit;
    std::error_code ignored;
    if (!fs::is_directory(options.directory, ignored))
        return fail("-directory: " + options.directory + " is not a directory", 2);
    const Result<void> done = run(options);
    return done ? 0 : fail(describe(done.error()), exit_of(done.error()));
}

} // namespace promtact::harness
