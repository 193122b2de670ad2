// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// sweep --strategy exhaustive, and replay of what it found.
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/durations.hpp>
#include <promtact/base/progress.hpp>

#include "command_common_internal.hpp"
#include "exhaustive_internal.hpp"

namespace promtact::sim {
namespace {

constexpr int exit_unsupported = 77;

int refuse_search(const Tool& tool, const Error& error) {
    if (error.code != Errc::unsupported) return refuse(tool, error);
    std::fputs(fmt::format("{}: unsupported: {}\n", tool.program, error.context).c_str(), stderr);
    return exit_unsupported;
}

bool has_path(const SearchReport& report) {
    return report.found.verdict == engine::Verdict::fail ||
           report.found.verdict == engine::Verdict::error;
}

/// The search, until its bounds, its time or an interrupt.
Result<SearchReport> carry_out(
    const Protocol& protocol, const Scenario& scenario, const engine::ExploreBounds& bounds,
    std::chrono::nanoseconds time) {
    MonotonicClock clock;
    const std::chrono::nanoseconds begin = clock.now();
    const Progress::Options shown = Progress::for_stderr();
    Progress progress("states", bounds.states, clock, shown);
    bool late = false;
    const InterruptGuard guard;
    Result<SearchReport> report =
        search(protocol, scenario, bounds, [&](const engine::ExploreReport& so_far) {
            // Where lines are not redrawn, other words would be another line each time.
            progress.update(
                so_far.distinct,
                shown.redraw
                    ? fmt::format("depth {}, {} in the frontier", so_far.depth, so_far.frontier)
                    : std::string());
            late = time.count() > 0 && clock.now() - begin >= time;
            return !late && !InterruptGuard::seen();
        });
    if (report && late && report->found.verdict == engine::Verdict::budget_exhausted)
        report->found.text = "the time was over";
    return report;
}

std::string same_search(const Tool& tool, const ExhaustiveFlags& flags) {
    std::string command = fmt::format(
        "{} sweep -c {} --strategy {}", called(tool), for_shell(flags.config), exhaustive_name);
    if (tool.protocols.size() > 1) command += " --protocol " + for_shell(flags.protocol);
    return flags.bounds.empty() ? command : command + " --bounds " + for_shell(flags.bounds);
}

/// Where the path is kept for replay. Named by its last state: the same violation, the same name.
Result<std::string> keep(const ExhaustiveFlags& flags, const SearchReport& report) {
    std::error_code failed;
    std::filesystem::create_directories(flags.corpus, failed);
    const auto& places = report.story.places;
    const Digest128 last = places.empty() ? Digest128{} : places.back().state;
    const std::filesystem::path path =
        std::filesystem::path(flags.corpus) /
        fmt::format("{}-path-{}.json", report.protocol, to_hex(last).substr(0, 12));
    PROMTACT_TRY(write_file_atomic(path, write_search(report)));
    return path.string();
}

} // namespace

int run_exhaustive(const Tool& tool, const ExhaustiveFlags& flags) {
    const Protocol& protocol = *find_protocol(tool, flags.protocol);
    const Result<SearchBounds> bounds = parse_bounds(flags.bounds);
    if (!bounds) return refuse(tool, "--bounds: " + bounds.error().context);
    std::chrono::nanoseconds time{};
    if (!flags.time.empty()) {
        const auto parsed = parse_duration(flags.time);
        if (!parsed) return refuse(tool, parsed.error());
        time = *parsed;
    }
    Result<Scenario> scenario = scenario_for(protocol, flags.config, "");
    if (!scenario) return refuse(tool, scenario.error());
    if (bounds->nodes > 0) scenario->nodes = bounds->nodes;
    const Result<SearchReport> report = carry_out(protocol, *scenario, bounds->explore, time);
    if (!report) return refuse_search(tool, report.error());
    std::string again = same_search(tool, flags);
    if (has_path(*report) && !flags.corpus.empty()) {
        const Result<std::string> kept = keep(flags, *report);
        if (!kept) return refuse(tool, kept.error());
        again = fmt::format("{} replay {}", called(tool), for_shell(*kept));
    }
    if (!flags.out.empty()) {
        const auto saved = write_file_atomic(flags.out, write_search(*report));
        if (!saved) return refuse(tool, saved.error());
    }
    std::string text = text_of(*report);
    if (has_path(*report)) text += path_text(*report) + "\nagain:    " + again + "\n";
    std::fputs((flags.json ? write_search(*report) : text).c_str(), stdout);
    if (flags.json && has_path(*report)) std::fputs(("again:    " + again + "\n").c_str(), stderr);
    return InterruptGuard::seen() ? exit_interrupted : exit_of(report->found.verdict);
}

int replay_search(const Tool& tool, const std::string& path, const std::string& text, bool json) {
    const Result<SearchReport> kept = read_search(text, path);
    if (!kept) return refuse(tool, kept.error());
    const Protocol* protocol = find_protocol(tool, kept->protocol);
    if (protocol == nullptr) {
        return refuse(
            tool, fmt::format(
                      "{}: this program does not know the protocol \"{}\"", path, kept->protocol));
    }
    if (!has_path(*kept)) {
        return refuse(
            tool, fmt::format(
                      "{}: this search is {}: there is no path to take", path,
                      to_string(kept->found.verdict)));
    }
    const Result<engine::Retrace> now = retrace(*protocol, *kept);
    if (!now) return refuse_search(tool, now.error());
    const auto difference = first_difference(kept->story, *now);
    SearchReport shown = *kept;
    shown.story = *now;
    if (json) {
        JsonWriter out;
        out.field("schema", "promtact.replay/1");
        out.field_bool("same", !difference.has_value());
        out.field("difference", difference.value_or(""));
        write_search(out, shown);
        std::fputs(out.finish().c_str(), stdout);
    } else {
        std::fputs((text_of(*kept) + path_text(shown)).c_str(), stdout);
        std::fputs(
            (difference ? "replay    differs at " + *difference + "\n"
                        : "replay    the same, action by action\n")
                .c_str(),
            stdout);
    }
    return difference ? 1 : 0;
}

} // namespace promtact::sim
