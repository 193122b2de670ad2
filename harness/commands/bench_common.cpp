// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/bench_common.hpp"

#include <cstdio>
#include <filesystem>

#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/gates/host_facts.hpp>

#include "bench/report.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;

// The umbrella flushes and reports a full stdout.
int print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return 0;
}

} // namespace

int bench_fail(const std::string& command, const std::string& message, int code) {
    std::fprintf(stderr, "promtact %s: %s\n", command.c_str(), message.c_str());
    return code;
}

int bench_exit_of(const Error& error) {
    return error.code == Errc::unsupported || error.code == Errc::denied ? 77 : 1;
}

int bench_exit_code(const std::vector<gates::GateRecord>& records) {
    int code = 0;
    for (const gates::GateRecord& record : records) {
        if (record.verdict == gates::Verdict::fail) return 1;
        if (record.verdict != gates::Verdict::pass) code = 5;
    }
    return code;
}

void add_bench_flags(FlagSet& flags, BenchCommon& common) {
    flags.text("dir,directory", common.directory, "where the file is made");
    flags.text("out", common.out, "folder of campaigns to add the result to; default: write none");
    flags.text("host", common.host, "slug that names this host in results; default: derived");
    flags.text("seed", common.seed, "seed of the resampling");
    flags.flag("json", common.json, "print the result as JSON instead of a table");
}

std::optional<std::string> bench_contradiction(BenchCommon& common) {
    if (!common.host.empty()) {
        if (const auto named = gates::check_host_name(common.host); !named)
            return "-host: " + named.error().context;
    }
    std::error_code ignored;
    if (!fs::is_directory(common.directory, ignored))
        return "-directory: " + common.directory + " is not a directory";
    const auto seed = parse_seed(common.seed);
    if (!seed) return "-seed: " + seed.error().context;
    common.seed_value = *seed;
    return std::nullopt;
}

int bench_conclude(
    const std::string& command, const BenchCommon& common, std::vector<gates::GateRecord> records,
    std::string text, const Started& started) {
    const auto campaign =
        bench::publish(records, common.out, common.host, common.directory, started.at());
    if (!campaign) return bench_fail(command, describe(campaign.error()), 1);
    if (!campaign->empty()) text += "result: " + campaign->string() + "\n";
    if (!common.json) return print(text);
    std::string json;
    for (const gates::GateRecord& record : records) {
        const auto one = gates::to_json(record);
        if (!one) return bench_fail(command, describe(one.error()), 1);
        json += *one;
    }
    return print(json);
}

} // namespace promtact::harness
