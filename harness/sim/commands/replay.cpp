// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// replay: a recorded case, or a path of a search, again and compared with what it was. diff: two
// recorded cases compared.
#include <fmt/format.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/sim/viewer.hpp>

#include "command_common_internal.hpp"
#include "exhaustive_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::size_t events_shown = 40;

/// What a search found is a path, not a run; nothing when the file holds a run.
std::optional<std::string> search_text(const std::string& path) {
    constexpr Bytes file_max{std::uint64_t{16} << 20}; // as much as read_search() takes
    const auto text = read_text_file(path, file_max);
    return text && is_search(*text) ? std::optional(*text) : std::nullopt;
}

/// Loads a case and finds its protocol; tells what is wrong. fn(recording, protocol) goes on.
template <class Fn>
int with_case(const Tool& tool, const std::string& path, Fn fn) {
    const Result<Recording> recording = load_recording(path);
    if (!recording) return refuse(tool, recording.error());
    const Protocol* protocol = find_protocol(tool, recording->protocol);
    if (protocol == nullptr) {
        return refuse(
            tool,
            fmt::format(
                "{}: this program does not know the protocol \"{}\"", path, recording->protocol));
    }
    const std::string problems = problems_text(*protocol, recording->run, path);
    if (!problems.empty()) return refuse(tool, problems);
    return fn(*recording, *protocol);
}

} // namespace

int run_replay(const Tool& tool, std::span<const std::string> arguments) {
    std::vector<std::string> paths;
    bool story = false;
    std::string html;
    bool json = false;
    harness::FlagSet set(
        tool.program + " replay",
        "Runs a recorded case again, without its generator, and compares every event.");
    set.positionals("file", paths, 1, 1, "written by --record, sweep or shrink");
    set.flag("story", story, "tell the run event by event");
    set.text("html", html, "write the run to this file, as a page for a browser");
    set.flag("json", json, "print JSON");
    set.footer(footer(
        tool, {"replay found/paxos-0x1.json --story"},
        "  0  the same run, whatever its verdict\n  1  it went another way\n"
        "  2  usage or a bad file\n"));
    if (const auto exit = set.parse(arguments)) return *exit;
    if (const auto found = search_text(paths.front())) {
        if (!html.empty()) return refuse(tool, "--html: a path of a search has no page");
        return replay_search(tool, paths.front(), *found, json);
    }
    return with_case(tool, paths.front(), [&](const Recording& kept, const Protocol& protocol) {
        EventTail tail(events_shown);
        const Recording now = record(protocol, kept.run);
        const RunReport report = run_case(protocol, kept.run, {.sink = &tail});
        const auto difference = first_difference(kept, now);
        const std::string command =
            fmt::format("{} replay {}", called(tool), for_shell(paths.front()));
        if (json) {
            JsonWriter out;
            out.field("schema", "promtact.replay/1");
            out.field_bool("same", !difference.has_value());
            out.field("difference", difference.value_or(""));
            write_report(out, protocol.name, kept.run, report);
            if (report.stop) write_failure(out, report, tail.events(), command);
            std::fputs(out.finish().c_str(), stdout);
        } else {
            std::string text = text_of(protocol.name, kept.run, report);
            if (story) {
                text += "\n" + story_of(protocol, kept);
            } else if (report.stop) {
                text += failure_text(report, tail.events(), command);
            }
            text += difference ? "replay    differs at " + *difference + "\n"
                               : "replay    the same, event by event\n";
            std::fputs(text.c_str(), stdout);
        }
        if (!html.empty()) {
            const auto saved = write_file_atomic(html, render_page(protocol, kept.run, command));
            if (!saved) return refuse(tool, saved.error());
        }
        return difference ? 1 : 0;
    });
}

int run_diff(const Tool& tool, std::span<const std::string> arguments) {
    std::vector<std::string> paths;
    harness::FlagSet set(
        tool.program + " diff", "Says in which event two recorded runs differ first.");
    set.positionals("file", paths, 2, 2, "written by --record, sweep or shrink");
    set.footer(footer(
        tool, {"diff before.json after.json"},
        "  0  they are the same\n  1  they differ\n  2  usage or a bad file\n"));
    if (const auto exit = set.parse(arguments)) return *exit;
    const Result<Recording> a = load_recording(paths[0]);
    if (!a) return refuse(tool, a.error());
    const Result<Recording> b = load_recording(paths[1]);
    if (!b) return refuse(tool, b.error());
    const auto difference = first_difference(*a, *b);
    std::fputs(
        (difference ? *difference + "\n" : std::string("the same, event by event\n")).c_str(),
        stdout);
    return difference ? 1 : 0;
}

} // namespace promtact::sim
