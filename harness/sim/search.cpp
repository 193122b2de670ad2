// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/clock.hpp>
#include <promtact/sim/session.hpp>

namespace promtact::sim {
namespace {

/// What of a scenario a search goes by.
Scenario searched(const Scenario& scenario) {
    Scenario kept{
        .name = scenario.name,
        .seed = scenario.seed,
        .nodes = scenario.nodes,
        .steps = scenario.steps};
    kept.expect.goals = scenario.expect.goals;
    return kept;
}

Result<void> check_searchable(const Protocol& protocol) {
    if (protocol.search.lacks.empty() && protocol.search.start) return {};
    return Error{
        Errc::unsupported, 0,
        "the protocol \"" + protocol.name +
            "\" cannot be searched exhaustively: " + protocol.search.lacks};
}

bool is_known(const engine::ExploreReport& found, const std::string& goal) {
    return std::any_of(found.goals.begin(), found.goals.end(), [&](const auto& one) {
        return one.sentence == goal;
    });
}

/// A goal that the scenario expects and nobody looked for was not reached.
void judge(const Scenario& scenario, engine::ExploreReport& found) {
    if (found.verdict != engine::Verdict::pass) return;
    for (const std::string& goal : scenario.expect.goals) {
        if (is_known(found, goal)) continue;
        found.verdict = engine::Verdict::vacuous;
        found.text = "the search knows no goal: " + goal;
    }
}

std::string words_of(const engine::Retrace& retrace) {
    std::string text(to_string(retrace.verdict));
    if (!retrace.property.empty()) text += " " + retrace.property;
    return retrace.broken.text.empty() ? text : text + ": " + retrace.broken.text;
}

bool ends_alike(const engine::ExploreReport& found, const engine::Retrace& story) {
    return story.verdict == found.verdict && story.property == found.property &&
           story.broken.key == found.broken.key && story.broken.text == found.broken.text &&
           story.astray.empty();
}

} // namespace

Result<SearchReport> search(
    const Protocol& protocol, const Scenario& scenario, const engine::ExploreBounds& bounds,
    const SearchGoOn& go_on) {
    PROMTACT_TRY(check_searchable(protocol));
    SearchReport report{
        .protocol = protocol.name, .scenario = searched(scenario), .bounds = bounds};
    MonotonicClock clock;
    const std::chrono::nanoseconds begin = clock.now();
    report.found = protocol.search.start(report.scenario, bounds)->run(go_on);
    report.wall = clock.now() - begin;
    judge(report.scenario, report.found);
    // What is kept is worth something only when another cluster goes the same way.
    PROMTACT_TRY_ASSIGN(report.story, retrace(protocol, report));
    const bool fails = report.found.verdict == engine::Verdict::fail;
    if (fails && !ends_alike(report.found, report.story)) {
        report.found.verdict = engine::Verdict::error;
        report.found.text = "another cluster does not go this way: " + words_of(report.story) +
                            " " + report.story.astray;
    }
    return report;
}

Result<engine::Retrace> retrace(const Protocol& protocol, const SearchReport& report) {
    PROMTACT_TRY(check_searchable(protocol));
    return protocol.search.start(report.scenario, report.bounds)->retrace(report.found.path);
}

std::optional<std::string>
first_difference(const engine::Retrace& kept, const engine::Retrace& now) {
    const std::size_t both = std::min(kept.places.size(), now.places.size());
    for (std::size_t n = 0; n < both; ++n) {
        const std::string place = "action " + std::to_string(n + 1) + ": ";
        const engine::Retrace::Place& a = kept.places[n];
        const engine::Retrace::Place& b = now.places[n];
        if (a.state != b.state) return place + "state " + to_hex(a.state) + " | " + to_hex(b.state);
        if (a.nodes != b.nodes) return place + "what the nodes say of themselves";
    }
    if (!now.astray.empty()) return "action " + std::to_string(both + 1) + ": " + now.astray;
    if (kept.verdict == now.verdict && kept.property == now.property &&
        kept.broken.key == now.broken.key && kept.broken.text == now.broken.text)
        return std::nullopt;
    return "its end: " + words_of(kept) + " | " + words_of(now);
}

} // namespace promtact::sim
