// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <promtact/base/build_info.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/base/terminal.hpp>
#include <promtact/gates/gate.hpp>
#include <promtact/gates/runner.hpp>
#include <promtact/harness/command.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/uring/ring.hpp>

#include "platform.hpp"
#include "probe/sources.hpp"

namespace promtact::harness {

namespace {

constexpr std::string_view footer =
    R"(Prints one line with platform, toolchain and entries, one line with PASS (or FAIL, on
stderr), then what this host offers to the gates: each fact with yes, no or unknown, the evidence,
and what to do about it. Needs no privilege; what this user cannot see is unknown. Changes nothing:
files have no name, namespaces end with the process.

examples:
  promtact-probe
  promtact probe -directory /var/lib/promtact
  promtact probe -json
  promtact-probe -entries 256 -report=false

exit codes:
  0  io_uring_setup(2) made a ring with the entries asked for
  1  it did not, or the output could not be written
  2  bad flag, or -directory is not a directory
)";

struct Options {
    std::uint64_t entries = 8;
    bool report = true;
    bool json = false;
    std::string directory = ".";
};

/// The question of the exit code: does a plain ring of that size come into being?
std::string setup_error(std::uint64_t entries) {
    const auto ring = uring::Ring::open(
        {.entries = static_cast<std::uint32_t>(entries),
         .only = uring::RingMode::plain,
         .register_ring = false});
    return ring ? "" : describe(ring.error());
}

/// What each gate would say before it starts.
void add_gates(probe::Report& report) {
    probe::Section section(report, "gates");
    for (const gates::GateEntry& gate : gates::catalog()) {
        const std::vector<Error> missing = gates::missing_needs(*gate.info);
        if (missing.empty()) {
            section.yes(gate.info->id, "all it needs is here");
            continue;
        }
        std::string why;
        for (const Error& error : missing)
            why += fmt::format(
                "{}{}, {}", why.empty() ? "" : "; ",
                error.code == Errc::denied ? "denied" : "unsupported", error.context);
        section.no(gate.info->id, why);
    }
}

void collect(probe::Report& report, const std::filesystem::path& directory) {
    const probe::Roots roots;
    probe::add_kernel(report, roots);
    probe::add_privileges(report, roots);
    probe::add_io_uring(report, directory);
    probe::add_storage(report, roots, directory);
    probe::add_network(report);
    probe::add_bpf(report);
    probe::add_devices(report, roots);
    probe::add_cgroups(report, roots);
    add_gates(report);
}

void print_verdict(const probe::Report& report) {
    std::fputs(
        fmt::format(
            "platform={} toolchain={} entries={}\n", platform, report.toolchain, report.entries)
            .c_str(),
        stdout);
    if (report.setup_error.empty()) {
        std::fputs("PASS io_uring setup\n", stdout);
        return;
    }
    std::fflush(stdout); // the platform line comes first when both streams are one
    std::fputs(fmt::format("FAIL {}\n", report.setup_error).c_str(), stderr);
}

/// "g++ 12.2.0" as one word, so that the line splits at blanks.
std::string toolchain() {
    std::string text(build_info().compiler);
    for (char& c : text)
        if (c == ' ') c = '-';
    return text;
}

} // namespace

int run_probe(std::span<const std::string> arguments) {
    Options options;
    FlagSet flags("promtact probe", "ask what this host offers to the gates");
    flags.number("entries", options.entries, 1, 32768, "entries of the ring to make");
    flags.text("directory", options.directory, "where storage gates would put their files");
    flags.flag("report", options.report, "print the report after the verdict");
    flags.flag("json", options.json, "print one JSON document instead of text");
    flags.footer(footer);
    if (const auto exit = flags.parse(arguments)) return *exit;

    std::error_code error;
    const std::filesystem::path directory = std::filesystem::canonical(options.directory, error);
    if (error || !std::filesystem::is_directory(directory, error)) {
        const std::string why = error ? error.message() : "not a directory";
        std::fputs(
            fmt::format("promtact probe: -directory {}: {}\n", options.directory, why).c_str(),
            stderr);
        return 2;
    }
    probe::Report report{
        .toolchain = toolchain(),
        .entries = options.entries,
        .setup_error = setup_error(options.entries)};
    if (options.report || options.json) collect(report, directory);
    if (options.json) {
        std::fputs(probe::as_json(report).c_str(), stdout);
    } else {
        print_verdict(report);
        const bool coloured = wants_colour(stdout);
        if (options.report) std::fputs(("\n" + probe::as_text(report, coloured)).c_str(), stdout);
    }
    return report.setup_error.empty() ? 0 : 1;
}

} // namespace promtact::harness
