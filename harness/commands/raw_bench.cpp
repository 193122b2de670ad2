// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact raw-bench: durable 4 KiB writes to a block device that the operator gives up.
#include <cstdio>
#include <cstring>

#include <promtact/base/destroy_guard.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>

#include "bench/block_run.hpp"

namespace promtact::harness {
namespace {

constexpr std::string_view footer =
    R"(THE CONTENT OF THE DEVICE IS DESTROYED. It is opened only after these refusals, in this
order: the path does not resolve; it is /dev/sda or outside /dev; -confirm-destroy is not exactly
ERASE:<canonical path>; -expected-size or -operations is missing or out of range; it is not a block
device; it carries /; it is a partition; it is read-only; its size differs; it, a partition or a
holder of it is mounted or swap; it has partitions or holders, or backs a loop device; the range
wraps or passes its end; somebody else has it open exclusively.

examples:
  promtact-raw-bench -device /dev/nvme1n1 -confirm-destroy ERASE:/dev/nvme1n1 \
    -expected-size 512110190592

exit codes:
  0  measured
  1  refused or failed; nothing was written when refused
  2  bad flag
)";

constexpr std::string_view banner = "PROMTACT RAW BENCH";
constexpr std::size_t number_at = 24;
constexpr std::size_t payload_bytes = 48;
static_assert(banner.size() <= number_at);

struct Options {
    std::string device{};
    std::string confirm_destroy{};
    std::uint64_t expected_size = 0;
    std::string operations = "10000";
    std::uint64_t start_block = 256;
    bool json = false;
};

int say(const Error& error) {
    const char* const prefix = error.code == Errc::refused ? "REFUSED" : "FAILED";
    const std::string why = error.code == Errc::refused ? error.context : describe(error);
    std::fprintf(stderr, "%s %s\n", prefix, why.c_str());
    return 1;
}

void put_payload(std::uint64_t number, std::span<std::byte> block) {
    PROMTACT_ASSERT(block.size() >= payload_bytes);
    std::memcpy(block.data(), banner.data(), banner.size());
    for (std::size_t i = 0; i < sizeof number; ++i)
        block[number_at + i] = static_cast<std::byte>(number >> (8 * i));
}

std::string
as_line(const Options& options, const ClaimedDevice& device, const bench::BlockRunResult& result) {
    const std::uint64_t last = options.start_block + result.operations - 1;
    return "device=" + device.path + " size=" + std::to_string(device.facts.size_bytes) +
           " range=" + std::to_string(options.start_block) + ".." + std::to_string(last) + " " +
           bench::figures_line(result) + "\n";
}

std::string
as_json(const Options& options, const ClaimedDevice& device, const bench::BlockRunResult& result) {
    JsonWriter json;
    json.field("schema", "promtact.raw-bench/1");
    json.field("device", device.path);
    json.field("size_bytes", device.facts.size_bytes);
    json.field("first_block", options.start_block);
    json.field("last_block", options.start_block + result.operations - 1);
    bench::write_figures(json, result);
    return json.finish();
}

} // namespace

int run_raw_bench(std::span<const std::string> arguments) {
    Options options;
    FlagSet flags("promtact raw-bench", "Measures durable 4 KiB writes to a block device.");
    flags.text("device", options.device, "the device; ITS CONTENT IS DESTROYED");
    flags.text("confirm-destroy", options.confirm_destroy, "\"ERASE:<canonical path>\"");
    flags.number("expected-size", options.expected_size, 0, UINT64_MAX, "its size in bytes");
    flags.text("operations", options.operations, "writes, 1 to 1000000");
    flags.number("start-block", options.start_block, 0, UINT64_MAX, "first block of 4096 bytes");
    flags.flag("json", options.json, "print one JSON object");
    flags.footer(footer);
    if (const auto exit = flags.parse(arguments)) return *exit;
    const auto operations = bench::parse_operations(options.operations);
    if (!operations) {
        std::fprintf(
            stderr, "promtact raw-bench: -operations: %s\n", operations.error().context.c_str());
        return 2;
    }
    auto claimed = claim_for_destruction(
        {.device = options.device,
         .confirmation = options.confirm_destroy,
         .expected_size = options.expected_size,
         .start_block = options.start_block,
         .blocks = *operations});
    if (!claimed) return say(claimed.error());
    const auto result = bench::run_blocks(
        std::move(claimed->file),
        {.operations = *operations, .first_byte = claimed->first_byte, .payload = put_payload});
    if (!result) return say(result.error());
    const std::string text =
        options.json ? as_json(options, *claimed, *result) : as_line(options, *claimed, *result);
    std::fputs(text.c_str(), stdout); // the umbrella flushes and reports a full stdout
    return 0;
}

} // namespace promtact::harness
