// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// shrink: a failing run made small, as a file and as a story.
#include <fmt/format.h>

#include <promtact/base/clock.hpp>
#include <promtact/base/progress.hpp>

#include "command_common_internal.hpp"

namespace promtact::sim {
namespace {

struct Flags {
    std::vector<std::string> paths{};
    std::string config{};
    std::string seed{};
    std::string protocol{};
    std::string out{};
    std::uint64_t runs = 20'000;
};

/// The case to make small: of a file, or a scenario with a seed.
struct Given {
    const Protocol* protocol = nullptr;
    Case run{};
};

Result<Given> given(const Tool& tool, const Flags& flags) {
    Given given;
    if (!flags.paths.empty()) {
        PROMTACT_TRY_ASSIGN(Recording kept, load_recording(flags.paths.front()));
        given.protocol = find_protocol(tool, kept.protocol);
        if (given.protocol == nullptr) {
            return Error{
                Errc::invalid_argument, 0,
                "this program does not know the protocol \"" + kept.protocol + "\""};
        }
        given.run = std::move(kept.run);
        return given;
    }
    given.protocol = find_protocol(tool, flags.protocol);
    PROMTACT_TRY_ASSIGN(
        given.run.scenario, scenario_for(*given.protocol, flags.config, flags.seed));
    return given;
}

bool can_be_shrunk(engine::Verdict verdict) {
    return verdict == engine::Verdict::fail || verdict == engine::Verdict::stuck ||
           verdict == engine::Verdict::error;
}

} // namespace

int run_shrink(const Tool& tool, std::span<const std::string> arguments) {
    Flags flags;
    harness::FlagSet set(
        tool.program + " shrink",
        "Makes a failing run small while the same property fails in the same way.");
    set.positionals("file", flags.paths, 0, 1, "a recorded case; or give -c and --seed");
    set.text("c,config", flags.config, "the scenario file");
    set.text("seed", flags.seed, "instead of the scenario's own");
    add_protocol_flag(set, tool, flags.protocol);
    set.text("out", flags.out, "the small case; default: shrunk.json");
    set.number("runs", flags.runs, 1, 10'000'000, "how many runs to spend at most");
    set.footer(footer(
        tool, {"shrink -c scenario.json --seed 0x4A2C --out small.json", "shrink case.json"},
        "  0  the case was made small\n  1  it does not fail\n  2  usage or a bad file\n"
        "  130  interrupted; the smallest so far is kept\n"));
    if (const auto exit = set.parse(arguments)) return *exit;
    if (flags.paths.empty() == flags.config.empty())
        return refuse(tool, "give a recorded case, or -c FILE");
    if (flags.out.empty()) flags.out = "shrunk.json";
    const Result<Given> start = given(tool, flags);
    if (!start) return refuse(tool, start.error());
    const Protocol& protocol = *start->protocol;
    const RunReport report = run_case(protocol, start->run);
    if (!can_be_shrunk(report.verdict)) {
        std::fputs(
            fmt::format(
                "{}: this run is {}: there is no failure to make small\n", tool.program,
                to_string(report.verdict))
                .c_str(),
            stderr);
        return 1;
    }
    MonotonicClock clock;
    Progress progress("shrink", flags.runs, clock, Progress::for_stderr());
    const InterruptGuard guard;
    ShrinkOptions options{.runs_max = flags.runs};
    options.give_up = InterruptGuard::seen;
    options.progress = [&](std::uint64_t runs, const CaseSize& size) {
        progress.update(runs, fmt::format("{} faults, {} fates", size.faults, size.fates));
    };
    const ShrinkReport small = shrink(protocol, start->run, options);
    progress.clear();
    const auto saved = save_recording(flags.out, small.small);
    if (!saved) return refuse(tool, saved.error());
    std::fputs(
        fmt::format(
            "{} in {} runs{}\n\n{}\nagain:    {} replay {}\n",
            sizes_text(small.before, small.after), small.runs,
            small.finished ? "" : ", and more would make it smaller",
            story_of(protocol, small.small), called(tool), for_shell(flags.out))
            .c_str(),
        stdout);
    return InterruptGuard::seen() ? exit_interrupted : 0;
}

} // namespace promtact::sim
