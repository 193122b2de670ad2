// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <fmt/format.h>

#include <promtact/base/numbers.hpp>

#include "report_internal.hpp"

namespace promtact::sim {
namespace {

std::string goal_line(const engine::Goals::Goal& goal) {
    return fmt::format(
        "goal      {}: {}\n", goal.sentence,
        goal.times == 0 ? std::string("not reached") : fmt::format("reached {} times", goal.times));
}

std::string nodes_text(const std::vector<NodeState>& nodes) {
    std::string text;
    for (const NodeState& node : nodes) {
        text += fmt::format(
            "  node {}{}{}{}\n", node.id.value(), node.up ? "" : " (down)",
            node.words.empty() ? "" : ": ", node.words);
    }
    return text;
}

} // namespace

int exit_of(engine::Verdict verdict) noexcept {
    switch (verdict) {
    case engine::Verdict::pass:
        return 0;
    case engine::Verdict::invalid:
    case engine::Verdict::budget_exhausted:
        return 5;
    default:
        return 1;
    }
}

std::string for_shell(const std::string& word) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_./-:=,+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string text_of(const std::string& protocol, const Case& run, const RunReport& report) {
    const Scenario& scenario = run.scenario;
    std::string text = fmt::format(
        "scenario  {}\nprotocol  {}\nseed      {}\nnodes     {}\nsteps     {} of {}\n",
        scenario.name, protocol, format_seed(scenario.seed), scenario.nodes,
        report.end.step.value(), scenario.steps);
    const engine::RunCounts& counts = report.counts;
    text += fmt::format(
        "messages  {} sent, {} delivered, {} lost, {} cut, {} copied, {} damaged, {} purged\n",
        counts.sent, counts.delivered, counts.lost, counts.cut, counts.copied, counts.corrupted,
        counts.purged);
    text += fmt::format(
        "chance    {} lost, {} delayed, {} copied\n", report.chance.lost, report.chance.delayed,
        report.chance.copied);
    if (report.clients.operations > 0) {
        text += fmt::format(
            "clients   {} operations, {} answered{}\n", report.clients.operations,
            report.clients.answered,
            report.clients.history.verdict == HistoryReport::Verdict::holds ? ", linearizable"
                                                                            : "");
    }
    if (report.commands > 0) text += fmt::format("commands  {}\n", report.commands);
    if (report.restarts > 0) text += fmt::format("restarts  {}\n", report.restarts);
    for (const engine::Goals::Goal& goal : report.goals)
        text += goal_line(goal);
    for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
        text += fmt::format(
            "fault     {}: {}\n", name_of(scenario.faults[i]),
            i < report.fault_counts.size() ? report.fault_counts[i] : 0);
    }
    text += fmt::format("trace     {}\n", to_hex(report.end.trace));
    return text + fmt::format(
                      "verdict   {}{}{}\n", to_string(report.verdict),
                      report.text.empty() ? "" : ": ", report.text);
}

std::string failure_text(
    const RunReport& report, const std::deque<ToldEvent>& events, const std::string& command) {
    std::string text;
    if (report.stop && report.stop->violation)
        text += fmt::format("property  {}\n", report.stop->violation->property);
    text += fmt::format(
        "place     seed {}, step {}, after event {}\n", format_seed(report.end.seed),
        report.end.step.value(), report.end.event);
    if (!events.empty()) text += "\nlast events:\n";
    for (const ToldEvent& told : events)
        text += "  " + line_of(told) + "\n";
    if (!report.nodes.empty()) text += "\nnodes:\n" + nodes_text(report.nodes);
    return text + "\nagain:    " + command + "\n";
}

void write_report(
    JsonWriter& json, const std::string& protocol, const Case& run, const RunReport& report) {
    json.field("scenario", run.scenario.name);
    json.field("protocol", protocol);
    json.field("seed", format_seed(run.scenario.seed));
    json.field("nodes", std::uint64_t{run.scenario.nodes});
    json.field("steps", report.end.step.value());
    json.field("steps_wanted", run.scenario.steps);
    json.field("verdict", to_string(report.verdict));
    json.field("text", report.text);
    json.field("trace", to_hex(report.end.trace));
    json.field("events", report.end.event);
    json.object("messages");
    json.field("sent", report.counts.sent);
    json.field("delivered", report.counts.delivered);
    json.field("lost", report.counts.lost);
    json.field("cut", report.counts.cut);
    json.field("copied", report.counts.copied);
    json.field("damaged", report.counts.corrupted);
    json.field("purged", report.counts.purged);
    json.end();
    json.object("chance");
    json.field("lost", report.chance.lost);
    json.field("delayed", report.chance.delayed);
    json.field("copied", report.chance.copied);
    json.end();
    json.field("commands", report.commands);
    json.field("restarts", report.restarts);
    json.field("operations", report.clients.operations);
    json.field("answered", report.clients.answered);
    write_goals(json, report.goals);
    json.array("faults");
    for (std::size_t i = 0; i < run.scenario.faults.size(); ++i) {
        json.object_item();
        json.field("fault", name_of(run.scenario.faults[i]));
        json.field("struck", i < report.fault_counts.size() ? report.fault_counts[i] : 0);
        json.end();
    }
    json.end();
}

void write_failure(
    JsonWriter& json, const RunReport& report, const std::deque<ToldEvent>& events,
    const std::string& command) {
    json.object("failure");
    const bool violated = report.stop && report.stop->violation;
    json.field("property", violated ? report.stop->violation->property : std::string());
    json.field("key", violated ? report.stop->violation->broken.key : std::string());
    json.field("step", report.end.step.value());
    json.field("event", report.end.event);
    std::vector<std::string> lines;
    lines.reserve(events.size());
    for (const ToldEvent& told : events)
        lines.push_back(line_of(told));
    json.strings("last_events", lines);
    write_nodes(json, report.nodes);
    json.field("again", command);
    json.end();
}

void write_goals(JsonWriter& json, std::span<const engine::Goals::Goal> goals) {
    json.array("goals");
    for (const engine::Goals::Goal& goal : goals) {
        json.object_item();
        json.field("goal", goal.sentence);
        json.field("reached", goal.times);
        json.end();
    }
    json.end();
}

void write_nodes(JsonWriter& json, std::span<const NodeState> nodes) {
    json.array("nodes");
    for (const NodeState& node : nodes) {
        json.object_item();
        json.field("node", std::uint64_t{node.id.value()});
        json.field_bool("up", node.up);
        json.field("state", node.words);
        json.end();
    }
    json.end();
}

std::string sizes_text(const CaseSize& before, const CaseSize& after) {
    std::string text;
    const auto add = [&text](std::string_view what, std::uint64_t from, std::uint64_t to) {
        if (from == 0) return;
        text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", what, from, to);
    };
    add("faults", before.faults, after.faults);
    add("commands", before.commands, after.commands);
    add("restarts", before.restarts, after.restarts);
    add("nodes", before.nodes, after.nodes);
    add("steps", before.steps, after.steps);
    add("fates", before.fates, after.fates);
    return text;
}

} // namespace promtact::sim
