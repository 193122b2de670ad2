// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <utility>
#include <variant>

#include <promtact/base/histogram.hpp>
#include <promtact/base/read_file.hpp>
#include <promtact/scenario/read_scenario.hpp>

namespace promtact::scenario {
namespace {

constexpr Bytes scenario_max{std::uint64_t{4} << 20};
constexpr Bytes results_max{std::uint64_t{64} << 20};
constexpr std::size_t table_size = 128;

/// The buckets of one measurement of a results file, [low, high, count] each.
Result<Histogram>
histogram_of(const JsonValue& measurement, const std::string& source, JsonProblems& problems) {
    const auto number = [&](std::string_view name) {
        const JsonValue* value = measurement.find(name);
        return value != nullptr && value->kind == JsonKind::integer ? value->integer : 0;
    };
    const JsonValue* array = measurement.find("histogram");
    const JsonValue* unit = measurement.find("unit");
    if (array == nullptr || array->kind != JsonKind::array || unit == nullptr ||
        unit->text != "ns") {
        problems.add(measurement.at, "this measurement is no distribution of nanoseconds");
        return problems.to_error(source);
    }
    std::vector<Histogram::Bucket> buckets;
    for (const JsonValue& row : array->children) {
        if (row.kind != JsonKind::array || row.children.size() != 3) {
            problems.add(row.at, "a bucket is [low, high, count]");
            continue;
        }
        const std::vector<std::uint64_t> numbers = unsigned_items(row, problems);
        if (numbers.size() == 3)
            buckets.push_back({.low = numbers[0], .high = numbers[1], .count = numbers[2]});
    }
    if (!problems.empty()) return problems.to_error(source);
    return Histogram::from_buckets(buckets, number("min"), number("max"));
}

/// reference: "path" or "path#measurement", without it the first distribution of times.
Result<std::vector<std::uint64_t>>
table_of(const std::string& reference, const std::filesystem::path& directory) {
    const std::size_t mark = reference.rfind('#');
    const std::string wanted = mark == std::string::npos ? "" : reference.substr(mark + 1);
    const std::filesystem::path path = directory / reference.substr(0, mark);
    PROMTACT_TRY_ASSIGN(const std::string text, read_text_file(path, results_max));
    PROMTACT_TRY_ASSIGN(const JsonValue root, read_json(text, path.string()));
    const JsonValue* all = root.find("measurements");
    if (all != nullptr) {
        for (const JsonValue& one : all->children) {
            const JsonValue* name = one.find("name");
            if (name == nullptr || one.find("histogram") == nullptr) continue;
            if (!wanted.empty() && name->text != wanted) continue;
            JsonProblems problems;
            PROMTACT_TRY_ASSIGN(
                const Histogram histogram, histogram_of(one, path.string(), problems));
            if (histogram.count() == 0) break;
            std::vector<std::uint64_t> table;
            for (std::size_t i = 0; i < table_size; ++i) {
                table.push_back(histogram.percentile_ppm(
                    static_cast<std::uint32_t>((2 * i + 1) * 1'000'000 / (2 * table_size))));
            }
            return table;
        }
    }
    return Error{
        Errc::format, 0,
        path.string() + " holds no distribution" + (wanted.empty() ? "" : " named " + wanted)};
}

} // namespace

Result<void> load_tables(Scenario& scenario, const std::filesystem::path& directory) {
    for (Fault& fault : scenario.faults) {
        auto* delay = std::get_if<DelayParams>(&fault.params);
        if (delay == nullptr || delay->shape != DelayShape::table) continue;
        PROMTACT_TRY_ASSIGN(delay->quantiles, table_of(delay->results_file, directory));
        // A copy of the scenario may lie elsewhere.
        delay->results_file = std::filesystem::absolute(directory / delay->results_file).string();
    }
    return {};
}

Result<Scenario> load_scenario(const std::filesystem::path& path) {
    PROMTACT_TRY_ASSIGN(const std::string text, read_text_file(path, scenario_max));
    PROMTACT_TRY_ASSIGN(Scenario scenario, read_scenario(text, path.string()));
    PROMTACT_TRY(load_tables(scenario, path.parent_path()));
    return scenario;
}

} // namespace promtact::scenario
