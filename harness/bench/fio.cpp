// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/fio.hpp"

#include <fcntl.h>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/numbers.hpp>

#include "bench/process.hpp"

namespace promtact::harness::bench {
namespace {

constexpr const char* absent =
    "fio is not installed: apt-get install fio (or run `make setup`) to compare with it";

std::string first_line(const std::string& text) {
    const std::size_t start = text.find_first_not_of(" \n");
    if (start == std::string::npos) return "no message";
    return text.substr(start, std::min(text.find('\n', start), text.size()) - start);
}

// Follows member names down; a missing one is a problem at the object that lacks it.
const JsonValue* descend(
    const JsonValue* value, std::initializer_list<std::string_view> path, JsonProblems& problems) {
    for (const std::string_view name : path) {
        if (value == nullptr) return nullptr;
        const JsonValue* const next = value->find(name);
        if (next == nullptr) problems.add(value->at, "has no member \"" + std::string(name) + "\"");
        value = next;
    }
    return value;
}

std::uint64_t number(
    const JsonValue* value, std::initializer_list<std::string_view> path, JsonProblems& problems) {
    const JsonValue* const found = descend(value, path, problems);
    if (found == nullptr) return 0;
    if (found->kind != JsonKind::integer || found->negative) {
        problems.add(found->at, "\"" + found->name + "\" must be a whole number");
        return 0;
    }
    return found->integer;
}

// A mean: fio writes it with decimals, which are cut off.
std::uint64_t
mean(const JsonValue* value, std::initializer_list<std::string_view> path, JsonProblems& problems) {
    const JsonValue* const found = descend(value, path, problems);
    if (found == nullptr) return 0;
    if (found->kind == JsonKind::integer && !found->negative) return found->integer;
    const std::string_view whole = std::string_view(found->text).substr(0, found->text.find('.'));
    const Result<std::uint64_t> parsed = parse_u64(whole);
    if (found->kind == JsonKind::real && parsed) return *parsed;
    problems.add(found->at, "\"" + found->name + "\" must be a number of at least zero");
    return 0;
}

const JsonValue* only_job(const JsonValue& root, JsonProblems& problems) {
    const JsonValue* const jobs = descend(&root, {"jobs"}, problems);
    if (jobs == nullptr) return nullptr;
    if (jobs->kind == JsonKind::array && jobs->children.size() == 1) return &jobs->children.front();
    problems.add(jobs->at, "\"jobs\" must hold exactly one job");
    return nullptr;
}

} // namespace

std::vector<std::string> fio_words(const std::string& path, const FioJob& job) {
    const std::uint64_t bytes = job.operations * job.write_bytes;
    std::vector<std::string> words{
        "fio",
        "--name=peer",
        "--filename=" + path,
        "--ioengine=" + job.engine,
        "--direct=1",
        "--bs=" + std::to_string(job.write_bytes),
        "--rw=write",
        "--overwrite=1",
        "--allow_file_create=0",
        "--size=" + std::to_string(job.region_bytes == 0 ? bytes : job.region_bytes),
        "--io_size=" + std::to_string(bytes),
        "--iodepth=1",
        "--thread=1", // the file is reached through our descriptor, which a thread shares
        "--lat_percentiles=1",
        "--percentile_list=50:99:99.9",
        "--" + std::string(to_string(job.sync)) + "=1",
        "--output-format=json"};
    if (job.engine == "io_uring") {
        words.emplace_back("--fixedbufs=1");
        words.emplace_back("--registerfiles=1");
    }
    return words;
}

Result<FioFigures> parse_fio(std::string_view json, std::uint64_t operations) {
    JsonProblems problems;
    const auto root = parse_json(json, problems);
    if (!root) return problems.to_error("fio");
    FioFigures figures;
    if (const JsonValue* version = descend(&*root, {"fio version"}, problems))
        figures.version = version->text;
    const JsonValue* const job = only_job(*root, problems);
    if (number(job, {"error"}, problems) != 0) problems.add(job->at, "fio reports an error");
    figures.operations = number(job, {"write", "total_ios"}, problems);
    const std::uint64_t runtime_ms = number(job, {"write", "runtime"}, problems);
    figures.write_p50 = number(job, {"write", "lat_ns", "percentile", "50.000000"}, problems);
    figures.sync_p50 = number(job, {"sync", "lat_ns", "percentile", "50.000000"}, problems);
    const std::uint64_t recorded = mean(job, {"write", "lat_ns", "mean"}, problems) +
                                   mean(job, {"sync", "lat_ns", "mean"}, problems);
    const std::uint64_t syncs = number(job, {"sync", "lat_ns", "N"}, problems);
    if (!problems.empty()) return problems.to_error("fio");
    if (figures.operations != operations || syncs + 1 < operations) {
        return Error{
            Errc::format, 0,
            "fio wrote " + std::to_string(figures.operations) + " blocks and synced " +
                std::to_string(syncs) + " times, asked were " + std::to_string(operations)};
    }
    if (runtime_ms == 0 || figures.write_p50 == 0 || figures.sync_p50 == 0)
        return Error{Errc::format, 0, "fio reports a time of zero: ask for more operations"};
    figures.operations_per_second = figures.operations * 1000 / runtime_ms;
    const std::uint64_t cycle = runtime_ms * 1'000'000 / figures.operations;
    figures.unrecorded = cycle > recorded ? cycle - recorded : 0;
    return figures;
}

Result<std::string> fio_version() {
    auto output = run_process({"fio", "--version"});
    if (!output && output.error().code == Errc::not_found)
        return Error{Errc::unsupported, output.error().sys_errno, absent};
    if (!output) return std::move(output).error();
    if (output->exit_code != 0)
        return Error{Errc::unsupported, 0, "fio --version failed: " + first_line(output->err)};
    return first_line(output->out);
}

Result<FioFigures> run_fio(const ScratchFile& file, const FioJob& job) {
    PROMTACT_TRY_ASSIGN(const UniqueFd shared, file.reopen(O_RDWR));
    const std::string path = "/proc/self/fd/" + std::to_string(shared.get());
    auto output = run_process(
        fio_words(path, job), {.timeout = std::chrono::minutes(5), .keep = {shared.get()}});
    if (!output && output.error().code == Errc::not_found)
        return Error{Errc::unsupported, output.error().sys_errno, absent};
    if (!output) return std::move(output).error();
    if (output->exit_code != 0) {
        return Error{
            Errc::io, 0,
            "fio ended with " + std::to_string(output->exit_code) + ": " +
                first_line(output->err.empty() ? output->out : output->err)};
    }
    return parse_fio(output->out, job.operations);
}

} // namespace promtact::harness::bench
