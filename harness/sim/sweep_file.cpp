// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a sweep found as a file, and several put together.
#include <algorithm>

#include <promtact/base/json_writer.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/scenario/read_scenario.hpp>
#include <promtact/sim/run.hpp>
#include <promtact/sim/sweep.hpp>

#include "report_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::string_view schema = "promtact.sweep/1";
constexpr Bytes file_max{std::uint64_t{16} << 20};

void write_shard(JsonWriter& json, const Shard& shard) {
    json.field("index", shard.index);
    json.field("of", shard.of);
}

void write_totals(JsonWriter& json, const SweepTotals& totals) {
    json.object("totals");
    json.field("seeds", totals.seeds);
    json.field("steps", totals.steps);
    json.field("deliveries", totals.deliveries);
    json.field("twins", totals.twins);
    json.numbers("verdicts", totals.verdicts);
    json.numbers("faults", totals.faults);
    write_goals(json, totals.goals);
    json.end();
}

void write_failures(JsonWriter& json, const std::vector<SweepFailure>& failures) {
    json.array("failures");
    for (const SweepFailure& failure : failures) {
        json.object_item();
        json.field("seed", format_seed(failure.seed));
        write_outcome_fields(json, failure.outcome);
        json.field_bool("endedProcess", failure.ended_process);
        json.end();
    }
    json.end();
}

class SweepReader {
  public:
    SweepReader(const JsonValue& root, JsonProblems& problems)
        : problems_(problems), object_(root, problems) {}

    SweepReport run() {
        if (object_.require_string("schema") != schema)
            object_.complain("schema", "must be \"" + std::string(schema) + "\"");
        report_.protocol = object_.require_string("protocol");
        if (const JsonValue* value = object_.require_object("scenario"))
            report_.scenario = scenario::read_scenario(*value, problems_);
        report_.strategy = object_.require_string("strategy");
        report_.strategy_faults =
            static_cast<std::uint32_t>(object_.require_u64("strategyFaults", 0, 1000));
        report_.first = seed(object_, "first");
        if (const JsonValue* value = object_.require_object("shard")) report_.shard = shard(*value);
        report_.done = object_.require_u64("done");
        report_.wall = std::chrono::nanoseconds(
            static_cast<std::int64_t>(object_.require_u64("wallNs", 0, std::uint64_t{1} << 62)));
        if (const JsonValue* value = object_.require_object("totals")) read_totals(*value);
        read_failures();
        if (const JsonValue* array = object_.require_array("merged")) {
            for (const JsonValue& item : array->children)
                report_.merged.push_back(shard(item));
        }
        object_.finish();
        return std::move(report_);
    }

  private:
    std::uint64_t seed(ObjectReader& object, std::string_view name) {
        const auto parsed = parse_seed(object.require_string(name));
        if (parsed) return *parsed;
        object.complain(name, "says " + parsed.error().context);
        return 0;
    }
    Shard shard(const JsonValue& value) {
        if (value.kind != JsonKind::object) {
            problems_.add(value.at, "a shard is an object");
            return {};
        }
        ObjectReader fields(value, problems_);
        Shard shard{.index = fields.require_u64("index"), .of = fields.require_u64("of", 1)};
        if (shard.index >= shard.of) fields.complain("index", "must be below the number of shards");
        fields.finish();
        return shard;
    }
    void read_totals(const JsonValue& value) {
        ObjectReader fields(value, problems_);
        SweepTotals& totals = report_.totals;
        totals.seeds = fields.require_u64("seeds");
        totals.steps = fields.require_u64("steps");
        totals.deliveries = fields.require_u64("deliveries");
        totals.twins = fields.require_u64("twins");
        if (const JsonValue* array = fields.require_array("verdicts")) {
            const auto counts = unsigned_items(*array, problems_);
            if (counts.size() == totals.verdicts.size()) {
                std::copy(counts.begin(), counts.end(), totals.verdicts.begin());
            } else {
                fields.complain("verdicts", "must be one number for each verdict");
            }
        }
        if (const JsonValue* array = fields.require_array("faults"))
            totals.faults = unsigned_items(*array, problems_);
        if (totals.faults.size() != report_.scenario.faults.size())
            fields.complain("faults", "must be one number for each fault of the scenario");
        if (const JsonValue* array = fields.require_array("goals")) {
            for (const JsonValue& item : array->children)
                read_goal(item);
        }
        fields.finish();
    }
    void read_goal(const JsonValue& value) {
        if (value.kind != JsonKind::object) return problems_.add(value.at, "a goal is an object");
        ObjectReader fields(value, problems_);
        report_.totals.goals.push_back(
            {fields.require_string("goal"), fields.require_u64("reached")});
        fields.finish();
    }
    void read_failures() {
        const JsonValue* array = object_.require_array("failures");
        if (array == nullptr) return;
        for (const JsonValue& item : array->children) {
            if (item.kind != JsonKind::object) {
                problems_.add(item.at, "a failure is an object");
                continue;
            }
            ObjectReader fields(item, problems_);
            SweepFailure failure{.seed = seed(fields, "seed")};
            failure.outcome = read_outcome_fields(fields);
            failure.ended_process = fields.require_bool("endedProcess");
            fields.finish();
            report_.failures.push_back(std::move(failure));
        }
    }

    JsonProblems& problems_;
    ObjectReader object_;
    SweepReport report_{};
};

} // namespace

engine::Verdict SweepReport::verdict() const {
    if (!failures.empty()) return failures.front().outcome.verdict;
    for (const std::uint64_t struck : totals.faults)
        if (struck == 0) return engine::Verdict::vacuous;
    for (const engine::Goals::Goal& goal : totals.goals)
        if (goal.times == 0) return engine::Verdict::vacuous;
    return totals.seeds == 0 ? engine::Verdict::vacuous : engine::Verdict::pass;
}

std::string SweepReport::text() const {
    if (!failures.empty()) {
        const Outcome& outcome = failures.front().outcome;
        return outcome.property.empty() ? outcome.text : outcome.property + ": " + outcome.text;
    }
    for (std::size_t i = 0; i < totals.faults.size(); ++i)
        if (totals.faults[i] == 0) return "fault never struck: " + name_of(scenario.faults[i]);
    for (const engine::Goals::Goal& goal : totals.goals)
        if (goal.times == 0) return "goal not reached by any seed: " + goal.sentence;
    return totals.seeds == 0 ? "no seed was run" : "";
}

std::string write_sweep(const SweepReport& report) {
    JsonWriter json;
    json.field("schema", schema);
    json.field("protocol", report.protocol);
    json.object("scenario");
    scenario::write_scenario(json, report.scenario);
    json.end();
    json.field("strategy", report.strategy);
    json.field("strategyFaults", std::uint64_t{report.strategy_faults});
    json.field("first", format_seed(report.first));
    json.object("shard");
    write_shard(json, report.shard);
    json.end();
    json.field("done", report.done);
    json.field("wallNs", static_cast<std::uint64_t>(report.wall.count()));
    write_totals(json, report.totals);
    write_failures(json, report.failures);
    json.array("merged");
    for (const Shard& shard : report.merged) {
        json.object_item();
        write_shard(json, shard);
        json.end();
    }
    json.end();
    return json.finish();
}

Result<SweepReport> load_sweep(const std::filesystem::path& path) {
    PROMTACT_TRY_ASSIGN(const std::string text, read_text_file(path, file_max));
    JsonProblems problems;
    const auto value = parse_json(text, problems);
    SweepReport report;
    if (value && value->kind != JsonKind::object)
        problems.add(value->at, "what a sweep found is an object");
    if (value && problems.empty()) report = SweepReader(*value, problems).run();
    if (!problems.empty()) return problems.to_error(path.string());
    return report;
}

Result<SweepReport> merge(const std::vector<SweepReport>& reports) {
    PROMTACT_ASSERT(!reports.empty());
    const auto refuse = [](const std::string& why) {
        return Error{Errc::invalid_argument, 0, "these are not parts of one sweep: " + why};
    };
    SweepReport sum = reports.front();
    const std::string scenario = scenario::write_scenario(sum.scenario);
    sum.merged.clear();
    for (std::size_t n = 0; n < reports.size(); ++n) {
        const SweepReport& one = reports[n];
        if (!one.merged.empty()) return refuse("one is put together already");
        if (one.protocol != sum.protocol) return refuse("the protocols differ");
        if (scenario::write_scenario(one.scenario) != scenario)
            return refuse("the scenarios differ");
        if (one.strategy != sum.strategy || one.strategy_faults != sum.strategy_faults)
            return refuse("the strategies differ");
        if (one.first != sum.first || one.shard.of != sum.shard.of)
            return refuse("the seeds or shards differ");
        if (std::find(sum.merged.begin(), sum.merged.end(), one.shard) != sum.merged.end())
            return refuse("shard " + std::to_string(one.shard.index) + " is there twice");
        sum.merged.push_back(one.shard);
        if (n == 0) continue;
        sum.done += one.done;
        sum.wall = std::max(sum.wall, one.wall);
        SweepTotals& totals = sum.totals;
        totals.seeds += one.totals.seeds;
        totals.steps += one.totals.steps;
        totals.deliveries += one.totals.deliveries;
        totals.twins += one.totals.twins;
        for (std::size_t i = 0; i < totals.verdicts.size(); ++i)
            totals.verdicts[i] += one.totals.verdicts[i];
        for (std::size_t i = 0; i < totals.faults.size(); ++i)
            totals.faults[i] += one.totals.faults[i];
        if (totals.goals.size() != one.totals.goals.size()) return refuse("the goals differ");
        for (std::size_t i = 0; i < totals.goals.size(); ++i)
            totals.goals[i].times += one.totals.goals[i].times;
        sum.failures.insert(sum.failures.end(), one.failures.begin(), one.failures.end());
    }
    std::sort(
        sum.failures.begin(), sum.failures.end(),
        [&](const SweepFailure& a, const SweepFailure& b) {
            return a.seed - sum.first < b.seed - sum.first;
        });
    return sum;
}

} // namespace promtact::sim
