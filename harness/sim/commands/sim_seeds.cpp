// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// sim and seeds: the reference system's two commands, with its flags, defaults and workloads, on
// the first protocol of the program.
#include <thread>

#include <fmt/format.h>

#include <promtact/base/numbers.hpp>
#include <promtact/sim/sweep.hpp>

#include "command_common_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::uint64_t steps_limit = std::uint64_t{1} << 40;

} // namespace

int run_sim(const Tool& tool, std::span<const std::string> arguments) {
    std::string seed = "0x4A2C";
    std::uint64_t steps = 10'000;
    std::uint64_t nodes = 5;
    std::uint64_t drop = 25;
    std::uint64_t delay = 5;
    harness::FlagSet set(
        tool.program + " sim", "Runs one seed with a client command every 31 steps.");
    set.text("seed", seed, "any 64-bit value");
    set.number("steps", steps, 1, steps_limit, "how long the run is");
    set.number("nodes", nodes, 1, nodes_max, "how many");
    set.number("drop-permille", drop, 0, Permille::one, "loss of every message");
    set.number("max-delay", delay, 0, steps_limit, "steps a message travels at most");
    set.footer(footer(tool, {"sim --seed 0x4A2C --steps 1000"}, verdict_exits));
    if (const auto exit = set.parse(arguments)) return *exit;
    const auto parsed = parse_seed(seed);
    if (!parsed) return refuse(tool, "--seed: " + parsed.error().context);
    Case run{
        .scenario = {
            .name = "sim",
            .seed = *parsed,
            .nodes = static_cast<std::uint32_t>(nodes),
            .steps = steps,
            .drop = Permille(static_cast<std::uint32_t>(drop)).to_ppm(),
            .max_delay = {delay},
            .propose_every = {31}}};
    const Protocol& protocol = tool.protocols.front();
    const RunReport report = run_case(protocol, run);
    std::string text = fmt::format(
        "seed={} steps={} proposed={} trace={}\n", format_seed(*parsed), report.end.step.value(),
        report.commands, to_hex(report.end.trace));
    for (const engine::Goals::Goal& goal : report.goals)
        text += fmt::format("goal=\"{}\" reached={}\n", goal.sentence, goal.times);
    std::fputs(text.c_str(), stdout);
    if (report.verdict != engine::Verdict::pass)
        std::fputs(fmt::format("{}: {}\n", to_string(report.verdict), report.text).c_str(), stderr);
    return exit_of(report.verdict);
}

int run_seeds(const Tool& tool, std::span<const std::string> arguments) {
    std::uint64_t from = 1;
    std::uint64_t to = 1000;
    std::uint64_t steps = 2000;
    std::uint64_t workers = std::max(1U, std::thread::hardware_concurrency());
    harness::FlagSet set(
        tool.program + " seeds",
        "Runs a range of seeds with client commands and restarts on all cores.");
    set.number("from", from, 0, ~std::uint64_t{0} - 1, "first seed");
    set.number("to", to, 0, ~std::uint64_t{0} - 1, "last seed");
    set.number("steps", steps, 1, steps_limit, "of each seed");
    set.number("workers", workers, 1, 1024, "processes; default: one for each core");
    set.footer(
        footer(tool, {"seeds --from 1 --to 1000"}, "  0  pass\n  1  a seed failed\n  2  usage\n"));
    if (const auto exit = set.parse(arguments)) return *exit;
    if (to < from) return refuse(tool, fmt::format("--to {} is below --from {}", to, from));
    const Scenario scenario{
        .name = "seeds",
        .nodes = 5,
        .steps = steps,
        .drop = Permille(50).to_ppm(),
        .max_delay = {5},
        .propose_every = {17},
        .restart_every = {101}};
    const auto report = sweep(
        tool.protocols.front(), scenario,
        {.first = from,
         .seeds = to - from + 1,
         .jobs = static_cast<std::uint32_t>(workers),
         .twin_every = 0});
    if (!report) return refuse(tool, report.error());
    if (!report->failures.empty()) {
        const SweepFailure& failure = report->failures.front();
        std::fputs(
            fmt::format(
                "FAILED seed={}: tick={} trace={}\n{}\n", format_seed(failure.seed),
                failure.outcome.step, to_hex(failure.outcome.trace), report->text())
                .c_str(),
            stderr);
        return 1;
    }
    std::fputs(
        fmt::format("PASS seeds={} range={}..{} steps={}\n", to - from + 1, from, to, steps)
            .c_str(),
        stdout);
    return 0;
}

} // namespace promtact::sim
