// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <set>
#include <string>

#include "record_parts_internal.hpp"

namespace promtact::gates {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

void write_histogram(JsonWriter& json, const Histogram& histogram) {
    json.field("count", histogram.count());
    json.field("min", histogram.min());
    json.field("p50", histogram.p50());
    json.field("p90", histogram.p90());
    json.field("p99", histogram.p99());
    json.field("p999", histogram.p999());
    json.field("max", histogram.max());
    json.array("histogram");
    for (const Histogram::Bucket& bucket : histogram.buckets()) {
        const std::array<std::uint64_t, 3> item{bucket.low, bucket.high, bucket.count};
        json.numbers_item(item);
    }
    json.end();
}

std::vector<Histogram::Bucket> read_buckets(const JsonValue& array, JsonProblems& problems) {
    std::vector<Histogram::Bucket> buckets;
    for (const JsonValue& item : array.children) {
        if (item.kind != JsonKind::array || item.children.size() != 3) {
            problems.add(item.at, "a bucket must be [low, high, count]");
            continue;
        }
        const std::vector<std::uint64_t> numbers = unsigned_items(item, problems);
        if (numbers.size() != 3) continue;
        buckets.push_back({.low = numbers[0], .high = numbers[1], .count = numbers[2]});
    }
    return buckets;
}

// The percentiles are stored for people; they must be those of the buckets.
Histogram read_histogram(ObjectReader& reader, JsonProblems& problems) {
    const std::uint64_t count = reader.require_u64("count");
    const std::uint64_t min = reader.require_u64("min");
    const std::uint64_t p50 = reader.require_u64("p50");
    const std::uint64_t p90 = reader.require_u64("p90");
    const std::uint64_t p99 = reader.require_u64("p99");
    const std::uint64_t p999 = reader.require_u64("p999");
    const std::uint64_t max = reader.require_u64("max");
    const JsonValue* array = reader.require_array("histogram");
    if (array == nullptr) return {};
    Result<Histogram> histogram = Histogram::from_buckets(read_buckets(*array, problems), min, max);
    if (!histogram) {
        problems.add(array->at, histogram.error().context);
        return {};
    }
    const auto same = [&](std::string_view name, std::uint64_t stored, std::uint64_t computed) {
        if (stored != computed) {
            reader.complain(
                name, "is " + std::to_string(stored) + " but the histogram gives " +
                          std::to_string(computed));
        }
    };
    same("count", count, histogram->count());
    same("p50", p50, histogram->p50());
    same("p90", p90, histogram->p90());
    same("p99", p99, histogram->p99());
    same("p999", p999, histogram->p999());
    return std::move(*histogram);
}

Measurement read_measurement(const JsonValue& item, JsonProblems& problems) {
    ObjectReader reader(item, problems);
    Measurement measurement;
    measurement.name = reader.require_string("name");
    measurement.unit = reader.require_string("unit");
    measurement.method = reader.require_string("method");
    if (item.find("value") != nullptr) {
        measurement.value = Scalar{reader.require_u64("value")};
    } else if (item.find("numerator") != nullptr) {
        Ratio ratio;
        ratio.numerator = reader.require_u64("numerator");
        ratio.denominator = reader.require_u64("denominator", 1);
        measurement.value = ratio;
    } else {
        measurement.value = read_histogram(reader, problems);
    }
    reader.finish();
    return measurement;
}

} // namespace

void write_parameters(JsonWriter& json, const std::vector<Parameter>& parameters) {
    json.object("parameters");
    for (const Parameter& parameter : parameters) {
        std::visit(
            Overloaded{
                [&](std::uint64_t value) { json.field(parameter.name, value); },
                [&](const std::string& value) { json.field(parameter.name, value); },
                [&](bool value) { json.field_bool(parameter.name, value); }},
            parameter.value);
    }
    json.end();
}

void write_measurements(JsonWriter& json, const std::vector<Measurement>& measurements) {
    json.array("measurements");
    for (const Measurement& measurement : measurements) {
        json.object_item();
        json.field("name", measurement.name);
        json.field("unit", measurement.unit);
        json.field("method", measurement.method);
        std::visit(
            Overloaded{
                [&](const Scalar& scalar) { json.field("value", scalar.value); },
                [&](const Ratio& ratio) {
                    json.field("numerator", ratio.numerator);
                    json.field("denominator", ratio.denominator);
                },
                [&](const Histogram& histogram) { write_histogram(json, histogram); }},
            measurement.value);
        json.end();
    }
    json.end();
}

std::vector<Parameter> read_parameters(const JsonValue* object, JsonProblems& problems) {
    std::vector<Parameter> parameters;
    if (object == nullptr) return parameters;
    for (const JsonValue& child : object->children) {
        if (child.kind == JsonKind::integer && !child.negative) {
            parameters.push_back({child.name, child.integer});
        } else if (child.kind == JsonKind::text) {
            parameters.push_back({child.name, child.text});
        } else if (child.kind == JsonKind::boolean) {
            parameters.push_back({child.name, child.truth});
        } else {
            problems.add(
                child.at, "a parameter must be an unsigned integer, a string or a boolean");
        }
    }
    return parameters;
}

std::vector<Measurement> read_measurements(const JsonValue* array, JsonProblems& problems) {
    std::vector<Measurement> measurements;
    if (array == nullptr) return measurements;
    std::set<std::string> names;
    for (const JsonValue& item : array->children) {
        measurements.push_back(read_measurement(item, problems));
        if (!names.insert(measurements.back().name).second)
            problems.add(item.at, "measurement \"" + measurements.back().name + "\" appears twice");
    }
    return measurements;
}

} // namespace promtact::gates
