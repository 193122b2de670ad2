// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact wal bench: the log beside the most this disk can do.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/error_text.hpp>
#include <promtact/gates/format.hpp>
#include <promtact/harness/flags.hpp>

#include "bench/fio.hpp"
#include "bench/wal_comparison.hpp"
#include "commands/bench_common.hpp"
#include "commands/wal_verbs.hpp"

namespace promtact::harness {
namespace {

using bench::AppendStyle;

constexpr const char* command = "wal bench";

constexpr std::string_view footer =
    R"(The ceiling: fio's io_uring engine (registered buffer and file, O_DIRECT, fdatasync after each
write) writes the frame that holds one record of every writer, times the records in it. Ours and fio
run in turns on the same filesystem; the ratio is the geometric mean over the pairs, with its 95 %
interval. The log has rotation, checksums and durability hints on, and lets go of every 32 MiB, as a
program does that takes snapshots. A row that does not pass is measured again, up to four times.

RocksDB, LevelDB and SQLite are measured beside the blocked threads when their libraries are there
(librocksdb7.8, libleveldb1d, libsqlite3-0); each is told to make every put durable.

examples:
  promtact wal bench --directory /var/lib/data
  promtact wal bench --appends callback --pairs 10 --out results/hosts

exit codes:
  0   every row keeps its limit
  1   a row failed, or an error
  2   bad flag
  5   budget_exhausted: a row stayed inconclusive
  77  unsupported: fio is not installed, or no direct I/O here
)";

struct Options {
    BenchCommon common{};
    std::string engine = "best";
    std::string appends = "all";
    std::uint64_t pairs = 6;
    std::uint64_t scale = 100;
    bool stores = true;
};

std::optional<wal::Engine> engine_named(const std::string& name) {
    for (const wal::Engine engine :
         {wal::Engine::inline_sync, wal::Engine::ring_sync, wal::Engine::pwrite}) {
        if (to_string(engine) == name) return engine;
    }
    return std::nullopt;
}

std::optional<AppendStyle> style_named(const std::string& name) {
    for (const AppendStyle style :
         {AppendStyle::callback, AppendStyle::blocking, AppendStyle::loop}) {
        if (to_string(style) == name) return style;
    }
    return std::nullopt;
}

void show_progress(const bench::WalRow& row) {
    std::fprintf(
        stderr, "%s, %u writers, %u bytes: ratio %s, %s\n",
        std::string(to_string(row.job.style)).c_str(), row.job.writers, row.job.record_bytes,
        gates::ratio_text(row.comparison.operations.point_ppm, 1'000'000).c_str(),
        std::string(to_string(row.comparison.verdict)).c_str());
}

void show_store(const bench::StoreRow& row) {
    std::fprintf(
        stderr, "beside %s, %u threads: ratio %s\n", std::string(row.store->name).c_str(),
        row.writers, gates::ratio_text(row.comparison.operations.point_ppm, 1'000'000).c_str());
}

int run(const Options& options, std::span<const std::string> words) {
    const Started started;
    const auto refused = [](const Error& error) {
        const char* const word = bench_exit_of(error) == 77 ? "unsupported: " : "";
        return bench_fail(command, word + describe(error), bench_exit_of(error));
    };
    const auto version = bench::fio_version();
    if (!version) return refused(version.error());
    const auto comparison = bench::compare_wal(
        {.directory = options.common.directory,
         .engine = engine_named(options.engine),
         .only = style_named(options.appends),
         .pairs = options.pairs,
         .scale = options.scale,
         .seed = options.common.seed_value,
         .stores = options.stores,
         .after_row = show_progress,
         .after_store = show_store});
    if (!comparison) return refused(comparison.error());
    std::vector<gates::GateRecord> records{bench::wal_record(
        *comparison, *version,
        {.directory = options.common.directory,
         .run = started.finish("wal", words, options.common.seed_value),
         .parameters = {{"pairs", options.pairs}, {"scale", options.scale}}})};
    const int code = bench_exit_code(records);
    const int printed = bench_conclude(
        command, options.common, std::move(records), bench::wal_text(*comparison), started);
    return printed != 0 ? printed : code;
}

} // namespace

int wal_bench(std::span<const std::string> words) {
    Options options;
    FlagSet flags("promtact wal bench", "Measures appends beside the disk's ceiling.");
    add_bench_flags(flags, options.common);
    flags.choice(
        "engine", options.engine, {"best", "inline_sync", "ring_sync", "pwrite"},
        "how the log with threads reaches its disk");
    flags.choice(
        "appends", options.appends, {"all", "callback", "blocking", "loop"},
        "only the rows of this kind");
    flags.number("pairs", options.pairs, 2, 100, "runs of each side per row, two at a time");
    flags.number("scale", options.scale, 1, 10'000, "length of a run");
    flags.flag("stores", options.stores, "beside other stores, too");
    flags.footer(footer);
    if (const auto exit = flags.parse(words)) return *exit;
    if (const auto wrong = bench_contradiction(options.common))
        return bench_fail(command, *wrong, 2);
    return run(options, words);
}

} // namespace promtact::harness
