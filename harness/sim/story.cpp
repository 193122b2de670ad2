// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A small run told in order: what happened to nodes and messages, and how it ended.
#include <fmt/format.h>

#include "report_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::size_t deliveries_told = 40;

/// Keeps what the story is made of.
class Story final : public EventSink {
  public:
    [[nodiscard]] bool wants_words() const override { return true; }
    void on_event(const engine::Event& event, std::string_view words) override {
        told_.push_back({event, std::string(words)});
        if (event.kind == engine::EventKind::deliver) ++deliveries_;
    }
    /// Everything that is no plain delivery, and the last deliveries.
    [[nodiscard]] std::string text(const Scenario& scenario) const {
        std::string text;
        std::size_t delivered = 0;
        for (const ToldEvent& told : told_) {
            const bool plain = told.event.kind == engine::EventKind::deliver;
            if (plain && ++delivered + deliveries_told <= deliveries_) continue;
            text += "  " + sentence(told, scenario) + "\n";
        }
        if (deliveries_ > deliveries_told) {
            text = fmt::format(
                       "  ({} earlier deliveries are not told)\n", deliveries_ - deliveries_told) +
                   text;
        }
        return text;
    }

  private:
    static std::string sentence(const ToldEvent& told, const Scenario& scenario) {
        const engine::Event& event = told.event;
        const bool window =
            event.kind == engine::EventKind::begin || event.kind == engine::EventKind::end;
        if (!window) return line_of(told);
        std::string name;
        if (event.digest.low < scenario.faults.size())
            name = name_of(scenario.faults[static_cast<std::size_t>(event.digest.low)]);
        return fmt::format(
            "step {}  {} {}", event.time.value(),
            event.kind == engine::EventKind::begin ? "begins:" : "ends:", name);
    }
    std::vector<ToldEvent> told_{};
    std::size_t deliveries_ = 0;
};

} // namespace

std::string story_of(const Protocol& protocol, const Recording& recording) {
    Case run = recording.run;
    Story story;
    const RunReport report = run_case(protocol, run, {.sink = &story});
    Scenario by_id = run.scenario; // windows are told by the faults' ids
    std::vector<Fault> named;
    for (std::size_t i = 0; i < run.fault_ids.size(); ++i) {
        if (named.size() <= run.fault_ids[i]) named.resize(run.fault_ids[i] + 1);
        named[run.fault_ids[i]] = run.scenario.faults[i];
    }
    if (!named.empty()) by_id.faults = std::move(named);
    std::string text = fmt::format(
        "{} nodes, {} faults, {} messages with a fate of their own:\n", run.scenario.nodes,
        run.scenario.faults.size(), run.fates ? run.fates->size() : 0);
    text += story.text(by_id);
    for (const NodeState& node : report.nodes) {
        text += fmt::format(
            "  then node {}{}: {}\n", node.id.value(), node.up ? "" : " (down)", node.words);
    }
    text += fmt::format("  {}", to_string(report.verdict));
    if (report.stop && report.stop->violation) text += ": " + report.stop->violation->property;
    return text + ": " + report.text + "\n";
}

} // namespace promtact::sim
