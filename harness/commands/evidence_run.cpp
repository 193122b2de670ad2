// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact evidence run: runs any command and records its outcome in the one result schema.
#include "commands/evidence_run.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/gates/host_facts.hpp>
#include <promtact/harness/flags.hpp>

#include "bench/process.hpp"
#include "bench/report.hpp"
#include "commands/started.hpp"
#include "word.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view measure_prefix = "measure: ";
constexpr int grey_exit = 77;

constexpr std::string_view footer =
    R"(The command's words go to execvp(3) as they are, no shell between. A line of its output

    measure: NAME VALUE UNIT

becomes a measurement of the record (a whole number; units: ns, bytes, count, ppm,
operations_per_second, packets). Its exit decides: 0 pass, 77 unsupported, anything else fail; one
that is not finished in time is killed: fail. Words that begin with a dash go behind --.

examples:
  promtact evidence run -id fuzz_json -title 'JSON reader, fuzzed' -qualifies base \
      -out results/hosts -- verification/run_fuzz.sh json_reader_fuzz

exit codes: those of the command, and
  1   the record cannot be written
  2   bad flag
)";

struct Options {
    std::string id{};
    std::string tier = "kernel";
    std::string title{};
    std::string qualifies{};
    std::string out{};
    std::string host{};
    std::string log{};
    std::uint64_t minutes = 60;
    std::vector<std::string> command{};
};

int fail(const std::string& message, int code) {
    std::fprintf(stderr, "promtact evidence run: %s\n", message.c_str());
    return code;
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

// One "measure:" line. Errors: format, when it does not read NAME VALUE UNIT.
Result<gates::Measurement> measurement_of(std::string_view line) {
    const std::vector<std::string> words = split(line.substr(measure_prefix.size()), ' ');
    if (words.size() != 3)
        return Error{Errc::format, 0, "not \"measure: NAME VALUE UNIT\": " + shown(line)};
    const auto value = parse_u64(words[1]);
    if (!value) return Error{Errc::format, 0, shown(line) + ": " + value.error().context};
    return gates::Measurement{words[0], words[2], "printed by the command", gates::Scalar{*value}};
}

// What the command said, put into the record; its exit code.
Result<int> judge(
    const Result<bench::ProcessOutput>& output, std::uint64_t minutes, gates::GateRecord& record) {
    if (!output && output.error().code == Errc::timeout) {
        record.verdict = gates::Verdict::fail;
        record.reason = "not finished within " + std::to_string(minutes) + " minutes";
        return 1;
    }
    if (!output) return output.error();
    std::string last;
    for (const std::string& line : split(output->out, '\n')) {
        last = line;
        if (!line.starts_with(measure_prefix)) continue;
        PROMTACT_TRY_ASSIGN(gates::Measurement measurement, measurement_of(line));
        record.measurements.push_back(std::move(measurement));
    }
    const std::string said = last.empty() ? "no output" : printable(last);
    record.verdict = gates::Verdict::fail;
    if (output->exit_code == 0) record.verdict = gates::Verdict::pass;
    if (output->exit_code == grey_exit) record.verdict = gates::Verdict::unsupported;
    if (record.verdict == gates::Verdict::pass) {
        record.summary = said;
    } else {
        record.reason = "exit " + std::to_string(output->exit_code) + ": " + said;
    }
    return output->exit_code;
}

gates::GateRecord record_of(const Options& options) {
    gates::GateRecord record;
    record.kind = gates::RecordKind::benchmark;
    record.tier = options.tier;
    record.gate_class = "full";
    record.sample = "full";
    record.id = options.id;
    record.title = options.title;
    record.qualifies = split(options.qualifies, ',');
    record.establishes = "that the command recorded here ended as the verdict says, on this host";
    record.does_not_establish = "anything the command does not check";
    record.parameters.push_back({"minutes", options.minutes});
    return record;
}

// Whether a record with these names can be written at all: asked before hours are spent.
Result<void> check_names(gates::GateRecord record, std::span<const std::string> words) {
    record.verdict = gates::Verdict::pass;
    record.summary = "passed";
    record.run = Started{}.finish("evidence", words, 0);
    record.host = "host.json#sha256:" + std::string(64, '0');
    PROMTACT_TRY(gates::to_json(record));
    return {};
}

int run(const Options& options, std::span<const std::string> words) {
    gates::GateRecord record = record_of(options);
    if (const auto named = check_names(record, words); !named)
        return fail(describe(named.error()), 2);
    const Started started;
    const auto output = bench::run_process(
        options.command,
        {.timeout = std::chrono::minutes(options.minutes), .output_max = std::size_t{256} << 20});
    if (output && !options.log.empty()) {
        if (const auto logged = write_file_atomic(options.log, output->out + output->err); !logged)
            return fail(describe(logged.error()), 1);
    }
    const Result<int> code = judge(output, options.minutes, record);
    if (!code) return fail(describe(code.error()), 1);
    record.run = started.finish("evidence", words, 0);
    std::vector<gates::GateRecord> records{std::move(record)};
    const auto campaign =
        bench::publish(records, options.out, options.host, fs::current_path(), started.at());
    if (!campaign) return fail(describe(campaign.error()), 1);
    const gates::GateRecord& written = records.front();
    std::printf(
        "%s: %s; %s\n", written.id.c_str(), std::string(to_string(written.verdict)).c_str(),
        (written.summary + written.reason).c_str());
    if (!campaign->empty()) std::printf("result: %s\n", campaign->c_str());
    return *code;
}

} // namespace

int evidence_run_command(std::span<const std::string> words) {
    Options options;
    FlagSet flags("promtact evidence run", "Runs a command and records its outcome as a result.");
    flags.text("id", options.id, "snake_case name of the result");
    flags.choice(
        "tier", options.tier, {"kernel", "storage", "network", "protocol", "model"},
        "under which heading it is shown");
    flags.text("title", options.title, "what was tried, in a few words");
    flags.text("qualifies", options.qualifies, "folders it speaks about, separated by commas");
    flags.text("out", options.out, "folder of campaigns to add the result to; default: write none");
    flags.text("host", options.host, "slug that names this host in results; default: derived");
    flags.text("log", options.log, "file for all the command printed");
    flags.number("minutes", options.minutes, 1, 2880, "time allowed");
    flags.positionals("command", options.command, 1, 256, "the command and its words");
    flags.footer(footer);
    if (const auto exit = flags.parse(words.subspan(1))) return *exit;
    if (options.id.empty() || options.title.empty() || options.qualifies.empty())
        return fail("-id, -title and -qualifies are needed", 2);
    if (!options.host.empty()) {
        if (const auto named = gates::check_host_name(options.host); !named)
            return fail("-host: " + named.error().context, 2);
    }
    return run(options, words);
}

} // namespace promtact::harness
