// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a search found as a file, with the path to a violation.
#include <algorithm>

#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/search.hpp>

#include "report_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::string_view schema = "promtact.search/1";
constexpr std::size_t schema_within = 256; // bytes of a file

// --- writing ---

void write_counts(JsonWriter& json, const engine::ExploreReport& found) {
    json.object("counts");
    json.field("states", found.states);
    json.field("distinct", found.distinct);
    json.field("transitions", found.transitions);
    json.field("depth", std::uint64_t{found.depth});
    json.field("frontier", found.frontier);
    json.field("cut", found.cut);
    json.end();
    json.object("actions");
    for (const engine::ActionKind kind : engine::all_action_kinds)
        json.field(to_string(kind), found.taken[static_cast<std::size_t>(kind)]);
    json.end();
    json.array("goals");
    for (const engine::ExploredGoal& goal : found.goals) {
        json.object_item();
        json.field("goal", goal.sentence);
        json.field_bool("reached", goal.reached);
        json.field("depth", std::uint64_t{goal.depth});
        json.end();
    }
    json.end();
}

void write_place(JsonWriter& json, const engine::Retrace::Place& place) {
    json.object_item();
    json.field("action", to_string(place.action.kind));
    json.field("node", std::uint64_t{place.action.node.value()});
    json.field("from", std::uint64_t{place.action.from.value()});
    json.field("message", to_hex(place.action.message));
    json.field("words", place.action.words);
    json.field("state", to_hex(place.state));
    write_nodes(json, place.nodes);
    json.end();
}

// --- reading ---

class SearchReader {
  public:
    SearchReader(const JsonValue& root, JsonProblems& problems)
        : problems_(problems), object_(root, problems) {}

    SearchReport run() {
        if (object_.require_string("schema") != schema)
            object_.complain("schema", "must be \"" + std::string(schema) + "\"");
        report_.protocol = object_.require_string("protocol");
        if (const JsonValue* value = object_.require_object("scenario"))
            report_.scenario = scenario::read_scenario(*value, problems_);
        if (const JsonValue* value = object_.require_object("bounds"))
            report_.bounds = read_bounds(*value, problems_).explore;
        report_.wall = std::chrono::nanoseconds(
            static_cast<std::int64_t>(object_.require_u64("wallNs", 0, std::uint64_t{1} << 62)));
        engine::ExploreReport& found = report_.found;
        found.verdict = verdict();
        found.text = object_.require_string("text");
        read_counts(found);
        found.property = object_.require_string("property");
        found.broken.key = object_.require_string("key");
        found.broken.text = object_.require_string("broken");
        items("path", [this](ObjectReader& fields) { read_place(fields); });
        object_.finish();
        const bool threw = found.verdict == engine::Verdict::error && found.broken.key == "threw";
        if (threw || found.verdict == engine::Verdict::fail) report_.story.verdict = found.verdict;
        report_.story.property = found.property;
        report_.story.broken = found.broken;
        return std::move(report_);
    }

  private:
    engine::Verdict verdict() {
        const std::string word = object_.require_string("verdict");
        for (const engine::Verdict one : engine::all_verdicts)
            if (to_string(one) == word) return one;
        object_.complain("verdict", "is no verdict");
        return engine::Verdict::error;
    }
    /// fn(fields) for every object of an array.
    template <class Fn>
    void items(std::string_view name, Fn fn) {
        if (const JsonValue* array = object_.require_array(name)) each(*array, fn);
    }
    template <class Fn>
    void each(const JsonValue& array, Fn fn) {
        for (const JsonValue& item : array.children) {
            if (item.kind != JsonKind::object) {
                problems_.add(item.at, "must be an object");
                continue;
            }
            ObjectReader fields(item, problems_);
            fn(fields);
            fields.finish();
        }
    }
    void read_counts(engine::ExploreReport& found) {
        if (const JsonValue* value = object_.require_object("counts")) {
            ObjectReader fields(*value, problems_);
            found.states = fields.require_u64("states");
            found.distinct = fields.require_u64("distinct");
            found.transitions = fields.require_u64("transitions");
            found.depth =
                static_cast<std::uint32_t>(fields.require_u64("depth", 0, ~std::uint32_t{0}));
            found.frontier = fields.require_u64("frontier");
            found.cut = fields.require_u64("cut");
            fields.finish();
        }
        if (const JsonValue* value = object_.require_object("actions")) {
            ObjectReader fields(*value, problems_);
            for (const engine::ActionKind kind : engine::all_action_kinds)
                found.taken[static_cast<std::size_t>(kind)] = fields.require_u64(to_string(kind));
            fields.finish();
        }
        items("goals", [&found](ObjectReader& fields) {
            engine::ExploredGoal goal{.sentence = fields.require_string("goal")};
            goal.reached = fields.require_bool("reached");
            goal.depth =
                static_cast<std::uint32_t>(fields.require_u64("depth", 0, ~std::uint32_t{0}));
            found.goals.push_back(std::move(goal));
        });
    }
    Digest128 digest(ObjectReader& fields, std::string_view name) {
        const auto parsed = parse_digest128(fields.require_string(name));
        if (parsed) return *parsed;
        fields.complain(name, "says " + parsed.error().context);
        return {};
    }
    static NodeId node(ObjectReader& fields, std::string_view name) {
        return NodeId(static_cast<std::uint32_t>(fields.require_u64(name, 0, nodes_max)));
    }
    void read_place(ObjectReader& fields) {
        engine::Retrace::Place place;
        const std::string word = fields.require_string("action");
        const auto kind = std::find_if(
            engine::all_action_kinds.begin(), engine::all_action_kinds.end(),
            [&](engine::ActionKind one) { return to_string(one) == word; });
        if (kind == engine::all_action_kinds.end()) {
            fields.complain("action", "is no action");
        } else {
            place.action.kind = *kind;
        }
        place.action.node = node(fields, "node");
        place.action.from = node(fields, "from");
        place.action.message = digest(fields, "message");
        place.action.words = fields.require_string("words");
        place.state = digest(fields, "state");
        if (const JsonValue* array = fields.require_array("nodes")) {
            each(*array, [&place](ObjectReader& said) {
                engine::NodeWords words{.id = node(said, "node")};
                words.up = said.require_bool("up");
                words.words = said.require_string("state");
                place.nodes.push_back(std::move(words));
            });
        }
        report_.found.path.push_back(place.action);
        report_.story.places.push_back(std::move(place));
    }

    JsonProblems& problems_;
    ObjectReader object_;
    SearchReport report_{};
};

} // namespace

void write_search(JsonWriter& json, const SearchReport& report) {
    const engine::ExploreReport& found = report.found;
    json.field("protocol", report.protocol);
    json.object("scenario");
    scenario::write_scenario(json, report.scenario);
    json.end();
    json.object("bounds");
    write_bounds(json, report.bounds);
    json.end();
    json.field("wallNs", static_cast<std::uint64_t>(report.wall.count()));
    json.field("verdict", to_string(found.verdict));
    json.field("text", found.text);
    write_counts(json, found);
    json.field("property", found.property);
    json.field("key", found.broken.key);
    json.field("broken", found.broken.text);
    json.array("path");
    for (const engine::Retrace::Place& place : report.story.places)
        write_place(json, place);
    json.end();
}

std::string write_search(const SearchReport& report) {
    JsonWriter json;
    json.field("schema", schema);
    write_search(json, report);
    return json.finish();
}

bool is_search(std::string_view text) noexcept {
    return text.substr(0, schema_within).find(schema) != std::string_view::npos;
}

Result<SearchReport> read_search(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const auto value = parse_json(text, problems);
    SearchReport report;
    if (value && value->kind != JsonKind::object)
        problems.add(value->at, "what a search found is an object");
    if (value && problems.empty()) report = SearchReader(*value, problems).run();
    if (!problems.empty()) return problems.to_error(source);
    return report;
}

} // namespace promtact::sim
