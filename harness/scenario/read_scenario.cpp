// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <optional>

#include <promtact/base/durations.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/scenario/read_scenario.hpp>

#include "fault_fields_internal.hpp"

namespace promtact::scenario {
namespace {

constexpr std::uint64_t steps_limit = std::uint64_t{1} << 40;
constexpr std::uint64_t delay_limit = std::uint64_t{1} << 40;
constexpr std::size_t faults_max = 10'000;
constexpr std::size_t file_max = std::size_t{4} << 20;

class ScenarioReader {
  public:
    ScenarioReader(const JsonValue& value, JsonProblems& problems)
        : problems_(problems), object_(value, problems) {}

    Scenario run() {
        scenario_.name = object_.optional_string("name").value_or("");
        read_seed();
        scenario_.nodes = static_cast<std::uint32_t>(object_.require_u64("nodes", 1, nodes_max));
        scenario_.steps = object_.require_u64("steps", 1, steps_limit);
        read_tick();
        read_key();
        scenario_.drop = share("dropPermille", "dropPpm");
        scenario_.duplicate = share("duplicatePermille", "duplicatePpm");
        scenario_.max_delay = {object_.optional_u64("maxDelay", 0, delay_limit).value_or(0)};
        scenario_.propose_every = {
            object_.optional_u64("proposeEvery", 0, steps_limit).value_or(0)};
        scenario_.restart_every = {
            object_.optional_u64("restartEvery", 0, steps_limit).value_or(0)};
        read_workload();
        read_faults();
        read_expectation();
        object_.finish();
        return std::move(scenario_);
    }

  private:
    void read_seed() {
        const std::string text = object_.require_string("seed");
        if (text.empty()) {
            if (const JsonValue* value = object_.any("seed");
                value != nullptr && value->kind == JsonKind::text)
                object_.complain("seed", "is an invalid seed: it is empty");
            return;
        }
        const auto seed = parse_seed(text);
        if (seed) {
            scenario_.seed = *seed;
        } else {
            object_.complain("seed", "is an invalid seed: " + seed.error().context);
        }
    }
    void read_tick() {
        const auto text = object_.optional_string("tick");
        if (!text) return;
        const auto tick = parse_duration(*text);
        if (!tick) return object_.complain("tick", "says " + tick.error().context);
        if (tick->count() == 0)
            return object_.complain("tick", "must not be 0: a step takes some time");
        scenario_.tick_ns = static_cast<std::uint64_t>(tick->count());
    }
    void read_key() {
        const auto text = object_.optional_string("key");
        if (!text) return;
        if (*text == "index") {
            scenario_.key = DecisionKey::index;
        } else if (*text != "time") {
            object_.complain("key", "is neither \"time\" nor \"index\"");
        }
    }
    /// A probability, coarse or fine, not both.
    Ppm share(std::string_view permille, std::string_view ppm) {
        const auto coarse = object_.optional_u64(permille, 0, Permille::one);
        const auto fine = object_.optional_u64(ppm, 0, Ppm::one);
        if (coarse && fine) {
            object_.complain(
                ppm, "must not be given together with \"" + std::string(permille) + "\"");
        }
        if (fine) return Ppm(static_cast<std::uint32_t>(*fine));
        return Permille(static_cast<std::uint32_t>(coarse.value_or(0))).to_ppm();
    }
    void read_workload() {
        const JsonValue* value = object_.optional_object("workload");
        if (value == nullptr) return;
        ObjectReader fields(*value, problems_);
        Workload workload;
        workload.clients =
            static_cast<std::uint32_t>(fields.optional_u64("clients", 1, 1000).value_or(1));
        workload.keys =
            static_cast<std::uint32_t>(fields.optional_u64("keys", 1, 1'000'000).value_or(1));
        workload.reads = Ppm(static_cast<std::uint32_t>(
            fields.optional_u64("reads", 0, Ppm::one).value_or(500'000)));
        workload.start = Step(fields.optional_u64("start", 0, steps_limit).value_or(0));
        if (const auto end = fields.optional_u64("end", 1, steps_limit)) workload.end = Step(*end);
        if (workload.end <= workload.start) fields.complain("end", "must be after start");
        fields.finish();
        scenario_.workload = workload;
    }
    void read_faults() {
        const JsonValue* value = object_.optional_array("faults");
        if (value == nullptr) return;
        if (value->children.size() > faults_max) {
            return problems_.add(value->at, "more than " + std::to_string(faults_max) + " faults");
        }
        const FaultContext context{.nodes = scenario_.nodes, .steps = scenario_.steps};
        for (const JsonValue& item : value->children) {
            if (item.kind != JsonKind::object) {
                problems_.add(
                    item.at, "a fault is an object, not " + std::string(to_string(item.kind)));
                continue;
            }
            scenario_.faults.push_back(read_fault(item, context, problems_));
        }
    }
    void read_expectation() {
        const JsonValue* value = object_.optional_object("expect");
        if (value == nullptr) return;
        ObjectReader fields(*value, problems_);
        if (const JsonValue* goals = fields.optional_array("goals"))
            scenario_.expect.goals = string_items(*goals, problems_);
        if (const auto text = fields.optional_string("trace")) {
            const auto trace = parse_digest128(*text);
            if (trace) {
                scenario_.expect.trace = *trace;
            } else {
                fields.complain("trace", "says " + trace.error().context);
            }
        }
        fields.finish();
    }

    JsonProblems& problems_;
    ObjectReader object_;
    Scenario scenario_{};
};

} // namespace

Scenario read_scenario(const JsonValue& value, JsonProblems& problems) {
    if (value.kind != JsonKind::object) {
        problems.add(
            value.at, "a scenario is an object, not " + std::string(to_string(value.kind)));
        return {};
    }
    require_printable(value, problems);
    return ScenarioReader(value, problems).run();
}

Result<Scenario> read_scenario(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const auto value = parse_json(text, problems, {.bytes_max = file_max});
    Scenario scenario;
    if (value) scenario = read_scenario(*value, problems);
    if (!problems.empty()) return problems.to_error(source);
    return scenario;
}

} // namespace promtact::scenario
