// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact bench: the storage ladder, and the commit path beside fio.
#include <cstdio>
#include <filesystem>
#include <optional>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/durations.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/progress.hpp>
#include <promtact/gates/host_facts.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>

#include "bench/fio.hpp"
#include "bench/ladder.hpp"
#include "bench/peer.hpp"
#include "bench/picture.hpp"
#include "bench/report.hpp"
#include "commands/bench_common.hpp"
#include "commands/started.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;
using bench::SyncKind;

constexpr std::string_view usage =
    R"(Measures what durable writes cost on this host.

usage:
  promtact bench storage [flags]       layouts, flush methods, queue depths, group sizes
  promtact bench compare-fio [flags]   the commit path beside fio on the same file

`promtact bench storage -h` lists the flags.

examples:
  promtact bench storage -directory /var/lib/data -picture ladder.html
  promtact bench compare-fio -sync fdatasync

exit codes:
  0   measured, or pass
  1   failed
  2   bad flag
  5   budget_exhausted: a comparison stayed inconclusive
  77  unsupported or denied: named
)";

constexpr std::string_view storage_footer =
    R"(Every rung runs once per round, round after round, on a file without a name. Compare rungs
within a section only. Nothing here decides a verdict.

examples:
  promtact bench storage -directory /var/lib/data -picture ladder.html

exit codes:
  0   measured
  1   failed: no direct I/O or no space in -directory, an I/O error, unwritable output
  2   bad flag
  77  unsupported or denied: named
)";

constexpr std::string_view fio_footer =
    R"(Ours and fio's io_uring engine (registered buffer and file, O_DIRECT, 4 KiB, one at a time)
write the same blocks of the same file, in blocks of ABBA. pass: the geometric mean of the paired
ratios is at least 0.95 for operations per second and at most 1.05 for p50. Otherwise `inconclusive`
is printed and the round is repeated, up to -rounds; when every round's 95 % interval excludes the
limits: fail. For context only: the reference reports 1,844 to 2,189 operations per second on a file
of its host.

examples:
  promtact bench compare-fio -sync fdatasync

exit codes:
  0   pass
  1   fail, or an error
  2   bad flag
  5   budget_exhausted: inconclusive in every round
  77  unsupported: fio is not installed, or no direct I/O here
)";

struct StorageOptions {
    BenchCommon common{};
    std::uint64_t rounds = 3;
    std::string duration = "200ms";
    std::string picture{};
};

std::vector<gates::Parameter>
storage_parameters(const StorageOptions& options, const Result<FileLocation>& location) {
    std::vector<gates::Parameter> parameters{
        {"rounds", options.rounds}, {"duration_per_point", options.duration}};
    if (!location) return parameters;
    parameters.push_back({"filesystem", location->mount.filesystem});
    parameters.push_back({"mount_options", location->mount.options});
    parameters.push_back({"device", location->device.name});
    parameters.push_back({"write_cache", location->device.write_cache});
    parameters.push_back({"scheduler", location->device.scheduler});
    return parameters;
}

int write_picture(
    const std::string& path, const std::vector<bench::SectionResult>& results,
    const gates::RunRecord& run) {
    const std::string page =
        bench::ladder_page(results, "Measured " + run.started_at + ", commit " + run.commit);
    const auto written = write_file_atomic(path, page);
    return written ? 0 : bench_fail("bench storage", describe(written.error()), 1);
}

// Without counters the ladder still measures; the columns stay empty.
std::optional<DiskWatch> watch_below(const Result<FileLocation>& location) {
    if (!location) return std::nullopt;
    auto watch = DiskWatch::below(location->device);
    if (!watch) return std::nullopt;
    return std::move(*watch);
}

int run_storage(
    const StorageOptions& options, std::chrono::nanoseconds duration,
    std::span<const std::string> words) {
    const Started started;
    const auto location = locate(fs::path(options.common.directory));
    const std::optional<DiskWatch> watch = watch_below(location);
    Progress progress("bench storage", 0, started.clock(), Progress::for_stderr());
    bench::LadderOptions ladder;
    ladder.directory = options.common.directory;
    ladder.rounds = static_cast<std::uint32_t>(options.rounds);
    ladder.limits.duration = duration;
    ladder.watch = watch ? &*watch : nullptr;
    ladder.progress = [&](std::uint64_t done, std::uint64_t total, const std::string& what) {
        progress.update(done, std::to_string(total) + " runs: " + what);
    };
    const auto results = bench::run_ladder(bench::storage_ladder(), ladder);
    progress.clear();
    if (!results) {
        return bench_fail(
            "bench storage", describe(results.error()), bench_exit_of(results.error()));
    }
    const bench::Circumstances circumstances{
        .directory = options.common.directory,
        .run = started.finish("bench", words, options.common.seed_value),
        .parameters = storage_parameters(options, location)};
    if (!options.picture.empty()) {
        if (const int code = write_picture(options.picture, *results, circumstances.run); code != 0)
            return code;
    }
    return bench_conclude(
        "bench storage", options.common, {bench::ladder_record(*results, circumstances)},
        bench::ladder_text(*results), started);
}

int storage_command(std::span<const std::string> words) {
    StorageOptions options;
    FlagSet flags("promtact bench storage", "Measures the ladder of durable writes.");
    add_bench_flags(flags, options.common);
    flags.number("rounds", options.rounds, 1, 100, "rounds over all rungs");
    flags.text("duration", options.duration, "time per rung and round, 1ms to 1m");
    flags.text("picture", options.picture, "also write an HTML page with charts to this file");
    flags.footer(storage_footer);
    if (const auto exit = flags.parse(words.subspan(1))) return *exit;
    if (const auto wrong = bench_contradiction(options.common))
        return bench_fail("bench storage", *wrong, 2);
    const auto duration = parse_duration(options.duration);
    if (!duration) return bench_fail("bench storage", "-duration: " + duration.error().context, 2);
    if (*duration < std::chrono::milliseconds(1) || *duration > std::chrono::minutes(1)) {
        return bench_fail(
            "bench storage", "-duration: " + options.duration + " is not within 1ms and 1m", 2);
    }
    return run_storage(options, *duration, words);
}

struct FioOptions {
    BenchCommon common{};
    std::string sync = "both";
    std::string ring = "best";
    std::uint64_t operations = 4000;
    std::uint64_t blocks = 5;
    std::uint64_t rounds = 3;
};

std::optional<uring::RingMode> ring_mode(const std::string& name) {
    for (const uring::RingMode mode :
         {uring::RingMode::deferred, uring::RingMode::cooperative, uring::RingMode::plain})
        if (uring::to_string(mode) == name) return mode;
    return std::nullopt;
}

Result<bench::RunFigures>
run_ours(const FioOptions& options, const ScratchFile& file, SyncKind sync) {
    PROMTACT_TRY_ASSIGN(
        const bench::TwoStepResult result,
        bench::run_two_steps(file, options.operations, sync, ring_mode(options.ring)));
    return bench::RunFigures{
        .operations_per_second = result.operations_per_second(),
        .p50_ns = result.write.p50() + result.sync.p50()};
}

Result<bench::RunFigures>
run_peer(const ScratchFile& file, std::uint64_t operations, SyncKind sync) {
    PROMTACT_TRY_ASSIGN(
        const bench::FioFigures fio,
        bench::run_fio(file, {.operations = operations, .sync = sync}));
    return bench::RunFigures{
        .operations_per_second = fio.operations_per_second, .p50_ns = fio.operation_p50()};
}

Result<bench::PeerComparison>
compare(const FioOptions& options, const ScratchFile& file, SyncKind sync, std::string& text) {
    bench::PeerPlan plan;
    plan.blocks = static_cast<std::uint32_t>(options.blocks);
    plan.rounds_max = static_cast<std::uint32_t>(options.rounds);
    plan.seed = options.common.seed_value;
    plan.ours = [&] { return run_ours(options, file, sync); };
    plan.theirs = [&] { return run_peer(file, options.operations, sync); };
    plan.after_round = [&](const bench::PeerComparison& round) {
        const bool passed = round.verdict == bench::PeerVerdict::pass;
        const std::string line =
            std::string(to_string(sync)) + " round " + std::to_string(round.rounds) + ": " +
            (passed ? "pass" : "inconclusive") + "; " + bench::round_text(round) + "\n";
        text += line;
        std::fputs(line.c_str(), stderr);
    };
    return bench::compare_with_peer(plan);
}

std::vector<SyncKind> kinds_of(const std::string& sync) {
    if (sync == "fdatasync") return {SyncKind::fdatasync};
    if (sync == "fsync") return {SyncKind::fsync};
    return {SyncKind::fdatasync, SyncKind::fsync};
}

Result<std::vector<gates::GateRecord>>
compare_all(const FioOptions& options, std::span<const std::string> words, std::string& text) {
    PROMTACT_TRY_ASSIGN(const std::string version, bench::fio_version());
    PROMTACT_TRY_ASSIGN(
        const ScratchFile file,
        bench::prepare_file(
            options.common.directory, bench::Layout::overwritten, options.operations));
    std::vector<gates::GateRecord> records;
    for (const SyncKind sync : kinds_of(options.sync)) {
        const Started started;
        PROMTACT_TRY_ASSIGN(
            const bench::PeerComparison comparison, compare(options, file, sync, text));
        records.push_back(bench::peer_record(
            comparison, {}, sync, version,
            {.directory = options.common.directory,
             .run = started.finish("bench", words, options.common.seed_value),
             .parameters = {{"operations_per_run", options.operations}, {"ring", options.ring}}}));
        text += records.back().id + ": " +
                (comparison.verdict == bench::PeerVerdict::inconclusive
                     ? "budget_exhausted"
                     : std::string(to_string(comparison.verdict))) +
                "\n";
    }
    return records;
}

int compare_command(std::span<const std::string> words) {
    FioOptions options;
    FlagSet flags("promtact bench compare-fio", "Runs the commit path and fio side by side.");
    add_bench_flags(flags, options.common);
    flags.choice("sync", options.sync, {"both", "fdatasync", "fsync"}, "what follows each write");
    flags.choice(
        "ring", options.ring, {"best", "deferred", "cooperative", "plain"},
        "how our ring is set up; best: the first of these that the kernel offers");
    flags.number("operations", options.operations, 100, 1'000'000, "writes per run");
    flags.number("blocks", options.blocks, 3, 100, "blocks of ABBA per round, two pairs each");
    flags.number("rounds", options.rounds, 1, 10, "rounds at most");
    flags.footer(fio_footer);
    if (const auto exit = flags.parse(words.subspan(1))) return *exit;
    if (const auto wrong = bench_contradiction(options.common))
        return bench_fail("bench compare-fio", *wrong, 2);
    const Started started;
    std::string text;
    auto records = compare_all(options, words, text);
    if (!records) {
        const char* const word = bench_exit_of(records.error()) == 77 ? "unsupported: " : "";
        return bench_fail(
            "bench compare-fio", word + describe(records.error()), bench_exit_of(records.error()));
    }
    const int code = bench_exit_code(*records);
    const int printed = bench_conclude(
        "bench compare-fio", options.common, std::move(*records), std::move(text), started);
    return printed != 0 ? printed : code;
}

} // namespace

int run_bench(std::span<const std::string> arguments) {
    const std::string first = arguments.empty() ? "" : arguments.front();
    if (first == "storage") return storage_command(arguments);
    if (first == "compare-fio") return compare_command(arguments);
    const bool help = first == "-h" || first == "-help" || first == "--help" || first == "help";
    std::fputs(std::string(usage).c_str(), help ? stdout : stderr);
    if (help) return 0;
    if (first.empty()) return 2;
    const char* const what = first.starts_with("-") ? "unknown flag" : "unknown benchmark";
    std::fprintf(stderr, "promtact bench: %s \"%s\"\n", what, first.c_str());
    return 2;
}

} // namespace promtact::harness
