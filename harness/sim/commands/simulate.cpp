// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// simulate: one run of a scenario.
#include <fmt/format.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/sim/twin.hpp>
#include <promtact/sim/viewer.hpp>

#include "command_common_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::size_t events_shown = 40;

struct Flags {
    std::string config{};
    std::string seed{};
    std::string protocol{};
    std::string record{};
    std::string html{};
    bool twin = false;
    bool json = false;
};

bool is_failure(const RunReport& report) {
    return report.verdict != engine::Verdict::pass && report.verdict != engine::Verdict::vacuous;
}

std::string again(const Tool& tool, const Flags& flags, const Case& run) {
    std::string command = fmt::format(
        "{} simulate -c {} --seed {}", called(tool), for_shell(flags.config),
        format_seed(run.scenario.seed));
    if (tool.protocols.size() > 1) command += " --protocol " + for_shell(flags.protocol);
    return command + (flags.twin ? " --twin" : "");
}

void print(
    const Tool& tool, const Flags& flags, const Protocol& protocol, const Case& run,
    const RunReport& report) {
    EventTail tail(events_shown);
    if (is_failure(report)) static_cast<void>(run_case(protocol, run, {.sink = &tail}));
    const std::string command = again(tool, flags, run);
    if (flags.json) {
        JsonWriter json;
        json.field("schema", "promtact.run/1");
        write_report(json, protocol.name, run, report);
        if (is_failure(report)) write_failure(json, report, tail.events(), command);
        std::fputs(json.finish().c_str(), stdout);
        return;
    }
    std::fputs(text_of(protocol.name, run, report).c_str(), stdout);
    if (is_failure(report))
        std::fputs(failure_text(report, tail.events(), command).c_str(), stdout);
}

} // namespace

int run_simulate(const Tool& tool, std::span<const std::string> arguments) {
    Flags flags;
    harness::FlagSet set(
        tool.program + " simulate", "Runs a scenario and says whether every property held.");
    set.text("c,config", flags.config, "the scenario file; see docs/SCENARIO.md");
    set.text("seed", flags.seed, "instead of the scenario's own");
    add_protocol_flag(set, tool, flags.protocol);
    set.text("record", flags.record, "write the run to this file, for replay and diff");
    set.text("html", flags.html, "write the run to this file, as a page for a browser");
    set.flag("twin", flags.twin, "run it twice and compare every event");
    set.flag("json", flags.json, "print JSON");
    set.footer(footer(
        tool,
        {"simulate -c examples/scenarios/leader-partition.json",
         "simulate -c scenario.json --seed 0x4A2C --twin"},
        verdict_exits));
    if (const auto exit = set.parse(arguments)) return *exit;
    if (flags.config.empty()) return refuse(tool, "which scenario? give -c FILE");
    const Protocol& protocol = *find_protocol(tool, flags.protocol);
    const Result<Scenario> scenario = scenario_for(protocol, flags.config, flags.seed);
    if (!scenario) return refuse(tool, scenario.error());
    const Case run{.scenario = *scenario};
    const RunReport report = flags.twin ? run_twice(protocol, run).report : run_case(protocol, run);
    print(tool, flags, protocol, run, report);
    if (!flags.record.empty()) {
        const auto saved = save_recording(flags.record, record(protocol, run));
        if (!saved) return refuse(tool, saved.error());
    }
    if (!flags.html.empty()) {
        const auto saved =
            write_file_atomic(flags.html, render_page(protocol, run, again(tool, flags, run)));
        if (!saved) return refuse(tool, saved.error());
    }
    return exit_of(report.verdict);
}

} // namespace promtact::sim
