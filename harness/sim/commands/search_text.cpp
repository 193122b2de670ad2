// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <fmt/format.h>

#include "exhaustive_internal.hpp"

namespace promtact::sim {
namespace {

std::string bounds_text(const SearchReport& report) {
    const engine::ExploreBounds& bounds = report.bounds;
    std::string text = fmt::format("{} nodes, {} states", report.scenario.nodes, bounds.states);
    if (bounds.depth != ~std::uint32_t{0}) text += fmt::format(", {} actions deep", bounds.depth);
    for (const engine::ActionKind kind : engine::all_action_kinds) {
        const std::uint32_t limit = bounds.limit(kind);
        if (limit == 0 || limit == ~std::uint32_t{0}) continue;
        text += fmt::format(", {} {}", to_string(kind), limit);
    }
    return text;
}

std::string action_text(const engine::ExploredAction& action, std::size_t commands) {
    const std::string_view kind = to_string(action.kind);
    if (action.kind == engine::ActionKind::command) return fmt::format("{} {}", kind, commands);
    if (action.from == NodeId{}) return fmt::format("{} node {}", kind, action.node.value());
    return fmt::format(
        "{} {}->{}  {}", kind, action.from.value(), action.node.value(), action.words);
}

std::string node_text(const engine::NodeWords& node) {
    return fmt::format(
        "node {}{}{}{}", node.id.value(), node.up ? "" : " (down)", node.words.empty() ? "" : ": ",
        node.words);
}

} // namespace

std::string text_of(const SearchReport& report) {
    const engine::ExploreReport& found = report.found;
    const double seconds = std::max(std::chrono::duration<double>(report.wall).count(), 0.000'001);
    std::string text = fmt::format(
        "scenario  {}: its nodes and goals; chance, faults and times are the search's\n"
        "protocol  {}\nstrategy  {}, breadth first\nbounds    {}\n",
        report.scenario.name, report.protocol, exhaustive_name, bounds_text(report));
    text += fmt::format(
        "states    {}, {} distinct, {} transitions, {:.0f} states a second\n", found.states,
        found.distinct, found.transitions, static_cast<double>(found.states) / seconds);
    text += fmt::format(
        "depth     {} actions; frontier left: {} states; {:.2f} seconds\n", found.depth,
        found.frontier, seconds);
    if (found.cut > 0)
        text += fmt::format("cut       {} states with too many messages under way\n", found.cut);
    std::string taken;
    for (const engine::ActionKind kind : engine::all_action_kinds) {
        const std::uint64_t count = found.taken[static_cast<std::size_t>(kind)];
        if (count > 0)
            taken += fmt::format("{}{} {}", taken.empty() ? "" : ", ", to_string(kind), count);
    }
    text += "actions   " + taken + "\n";
    for (const engine::ExploredGoal& goal : found.goals) {
        text += fmt::format(
            "goal      {}: {}\n", goal.sentence,
            goal.reached ? fmt::format("reached after {} actions", goal.depth) : "not reached");
    }
    return text + fmt::format(
                      "verdict   {}{}{}\n", to_string(found.verdict),
                      found.text.empty() ? "" : ": ", found.text);
}

std::string path_text(const SearchReport& report) {
    const auto& places = report.story.places;
    std::string text = fmt::format(
        "\n{} nodes, {} actions; no shorter path leads there:\n", report.scenario.nodes,
        places.size());
    std::size_t commands = 0;
    for (std::size_t n = 0; n < places.size(); ++n) {
        const engine::Retrace::Place& place = places[n];
        if (place.action.kind == engine::ActionKind::command) ++commands;
        text += fmt::format("  {:>3}  {}\n", n + 1, action_text(place.action, commands));
        for (std::size_t i = 0; i < place.nodes.size(); ++i) {
            const bool same =
                n > 0 && i < places[n - 1].nodes.size() && places[n - 1].nodes[i] == place.nodes[i];
            if (!same) text += "         " + node_text(place.nodes[i]) + "\n";
        }
    }
    return text + fmt::format("  {}: {}\n", to_string(report.found.verdict), report.found.text);
}

} // namespace promtact::sim
