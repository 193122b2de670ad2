// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/sim/viewer.hpp>

#include "report_internal.hpp"
#include "viewer_page_internal.hpp"

namespace promtact::sim {
namespace {

/// Each text once, by number.
class Words {
  public:
    std::uint64_t number(const std::string& text) {
        const auto [at, added] = known_.try_emplace(text, all_.size());
        if (added) all_.push_back(text);
        return at->second;
    }
    [[nodiscard]] const std::vector<std::string>& all() const noexcept { return all_; }

  private:
    std::unordered_map<std::string, std::uint64_t> known_{};
    std::vector<std::string> all_{};
};

/// Collects what the page shows.
class Pages final : public EventSink {
  public:
    [[nodiscard]] bool wants_words() const override { return true; }
    void on_send(Step step, std::uint64_t number) override {
        if (number >= sent_.size()) sent_.resize(number * 2 + 1);
        sent_[number] = step.value();
    }
    void on_event(const engine::Event& event, std::string_view words) override {
        if (events_.size() == viewer_events_max) events_.pop_front();
        const std::uint64_t sent = event.message < sent_.size() ? sent_[event.message] : 0;
        const bool window =
            event.kind == engine::EventKind::begin || event.kind == engine::EventKind::end;
        events_.push_back(
            {event.time.value(), static_cast<std::uint64_t>(event.kind), event.from.value(),
             event.to.value(), window ? event.digest.low : event.message, sent,
             words_.number(std::string(words))});
    }
    /// Keeps what changed.
    void look_at(const Session& session) {
        const std::uint64_t step = session.place().step.value();
        const std::vector<NodeState> nodes = session.nodes();
        last_.resize(nodes.size(), {2, 0});
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::array<std::uint64_t, 2> now{
                nodes[i].up ? 1U : 0U, words_.number(nodes[i].words)};
            if (last_[i] == now) continue;
            last_[i] = now;
            states_.push_back({step, nodes[i].id.value(), now[0], now[1]});
        }
    }
    void write(JsonWriter& json) const {
        json.array("timeline");
        for (const auto& row : events_)
            json.numbers_item(row);
        json.end();
        json.array("states");
        for (const auto& row : states_)
            json.numbers_item(row);
        json.end();
        json.strings("words", words_.all());
    }

  private:
    std::vector<std::uint64_t> sent_{};
    std::deque<std::array<std::uint64_t, 7>> events_{};
    std::vector<std::array<std::uint64_t, 2>> last_{};
    std::vector<std::array<std::uint64_t, 4>> states_{};
    Words words_{};
};

void write_faults(JsonWriter& json, const Case& run) {
    json.array("windows");
    for (std::size_t i = 0; i < run.scenario.faults.size(); ++i) {
        const Fault& fault = run.scenario.faults[i];
        json.object_item();
        json.field("id", std::uint64_t{config_of(run).fault_id(i)});
        json.field("name", name_of(fault));
        json.field("kind", to_string(fault.kind));
        json.field("start", fault.start.value());
        json.field("end", std::min(fault.end.value(), run.scenario.steps + 1));
        json.end();
    }
    json.end();
}

/// JSON inside a script element: nothing in it may end the element.
std::string inside_script(std::string text) {
    for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
        text.replace(at, 1, "\\u003c");
    return text;
}

} // namespace

std::string render_page(const Protocol& protocol, const Case& run, const std::string& again) {
    Pages pages;
    const RunReport report =
        run_case(protocol, run, {.sink = &pages, .after_step = [&pages](const Session& session) {
                                     pages.look_at(session);
                                 }});
    JsonWriter json;
    json.field("schema", "promtact.page/1");
    write_report(json, protocol.name, run, report);
    const bool violated = report.stop && report.stop->violation;
    json.field("property", violated ? report.stop->violation->property : std::string());
    json.field("again", again);
    write_faults(json, run);
    std::vector<std::string> kinds;
    kinds.reserve(engine::all_event_kinds.size());
    for (const engine::EventKind kind : engine::all_event_kinds)
        kinds.emplace_back(to_string(kind));
    json.strings("kinds", kinds);
    pages.write(json);
    const std::string_view page = viewer_page();
    constexpr std::string_view mark = "@PROMTACT_DATA@";
    const std::size_t at = page.find(mark);
    PROMTACT_ASSERT(at != std::string_view::npos);
    return std::string(page.substr(0, at)) + inside_script(json.finish()) +
           std::string(page.substr(at + mark.size()));
}

} // namespace promtact::sim
