// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact uring-bench: durable 4 KiB writes to a file, one at a time.
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/scratch_file.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/direct_file.hpp>

#include "bench/block_run.hpp"
#include "bench/zero_file.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view footer =
    R"(Operation i writes block i of 4096 bytes through a registered buffer and file and waits for
the write, then for its flush. The blocks are written with zeros before the clock starts, so that no
operation changes metadata. The file has no name while the benchmark runs, and gets one at the end
with -keep. An existing file is used only when it holds nothing but zeros, and is removed at the end
without -keep; any other file is refused.

examples:
  promtact-uring-bench
  promtact uring-bench -path /var/lib/promtact/bench.dat -operations 10000

exit codes:
  0  measured
  1  refused or failed: the operations are out of range, the file exists and holds data, the file
     system does no direct I/O, no space, an I/O error
  2  bad flag
)";

struct Options {
    std::string path = "/tmp/promtact-uring-bench.dat";
    std::string operations = "1000";
    bool keep = false;
    bool json = false;
};

// An open file and what becomes of its name.
struct Target {
    UniqueFd file{};
    bool named = false;
};

int say(const Error& error) {
    const char* const prefix = error.code == Errc::refused ? "REFUSED" : "FAILED";
    const std::string why = error.code == Errc::refused ? error.context : describe(error);
    std::fprintf(stderr, "%s %s\n", prefix, why.c_str());
    return 1;
}

Result<Target> open_target(const fs::path& path, std::uint64_t operations) {
    Target target;
    std::error_code ignored;
    if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found) {
        PROMTACT_TRY_ASSIGN(target.file, bench::open_zero_file(path));
        target.named = true;
    } else {
        const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
        PROMTACT_TRY_ASSIGN(target.file, uring::open_direct_scratch(parent));
    }
    PROMTACT_TRY(
        fill_with_zeros(target.file.get(), operations * uring::block_bytes, path.string()));
    return target;
}

// The name the file ends with, or none.
Result<void> settle_name(const Options& options, const Target& target, int keeper) {
    if (target.named == options.keep) return {};
    if (target.named) {
        if (::unlink(options.path.c_str()) != 0)
            return Error::from_errno(errno, "remove " + options.path);
        return {};
    }
    const std::string link = "/proc/self/fd/" + std::to_string(keeper);
    if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, options.path.c_str(), AT_SYMLINK_FOLLOW) != 0)
        return Error::from_errno(errno, "name the file " + options.path);
    return {};
}

Result<bench::BlockRunResult> measure(const Options& options, std::uint64_t operations) {
    PROMTACT_TRY_ASSIGN(Target target, open_target(options.path, operations));
    const UniqueFd keeper{::fcntl(target.file.get(), F_DUPFD_CLOEXEC, 0)};
    if (!keeper) return Error::from_errno(errno, "duplicate the descriptor of " + options.path);
    // Forty-eight zero bytes are the reference's payload, so the block stays all zero.
    PROMTACT_TRY_ASSIGN(
        const bench::BlockRunResult result,
        bench::run_blocks(
            std::move(target.file),
            {.operations = operations, .payload = [](std::uint64_t, std::span<std::byte>) {}}));
    PROMTACT_TRY(settle_name(options, target, keeper.get()));
    return result;
}

std::string as_json(const Options& options, const bench::BlockRunResult& result) {
    JsonWriter json;
    json.field("schema", "promtact.uring-bench/1");
    json.field("path", options.path);
    bench::write_figures(json, result);
    return json.finish();
}

} // namespace

int run_uring_bench(std::span<const std::string> arguments) {
    Options options;
    FlagSet flags("promtact uring-bench", "Measures durable 4 KiB writes to a file.");
    flags.text("path", options.path, "the file; see below for what happens to an existing one");
    flags.text("operations", options.operations, "writes, 1 to 1000000");
    flags.flag("keep", options.keep, "keep the file");
    flags.flag("json", options.json, "print one JSON object");
    flags.footer(footer);
    if (const auto exit = flags.parse(arguments)) return *exit;
    const auto operations = bench::parse_operations(options.operations);
    if (!operations) {
        std::fprintf(
            stderr, "promtact uring-bench: -operations: %s\n", operations.error().context.c_str());
        return 2;
    }
    if (*operations < 1 || *operations > 1'000'000) {
        return say(
            Error{Errc::refused, 0, options.operations + " operations: allowed are 1 to 1000000"});
    }
    const auto result = measure(options, *operations);
    if (!result) return say(result.error());
    const std::string text =
        options.json ? as_json(options, *result)
                     : "path=" + options.path + " " + bench::figures_line(*result) + "\n";
    std::fputs(text.c_str(), stdout); // the umbrella flushes and reports a full stdout
    return 0;
}

} // namespace promtact::harness
