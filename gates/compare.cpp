// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/json_writer.hpp>
#include <promtact/gates/compare.hpp>
#include <promtact/gates/format.hpp>
#include <promtact/gates/text_table.hpp>

namespace promtact::gates {
namespace {

const GateRecord* find_record(const Campaign& campaign, std::string_view id) {
    for (const GateRecord& record : campaign.records)
        if (record.id == id) return &record;
    return nullptr;
}

std::uint64_t thousandths(const Ratio& ratio) {
    if (ratio.denominator == 0) return 0;
    const std::uint64_t whole = ratio.numerator / ratio.denominator;
    const std::uint64_t rest = ratio.numerator % ratio.denominator;
    return whole * 1000 + rest / std::max<std::uint64_t>(1, ratio.denominator / 1000);
}

struct Figure {
    std::string name{};
    std::uint64_t value = 0;
};

std::vector<Figure> figures_of(const Measurement* measurement) {
    if (measurement == nullptr) return {};
    if (const auto* scalar = std::get_if<Scalar>(&measurement->value))
        return {{"value", scalar->value}};
    if (const auto* ratio = std::get_if<Ratio>(&measurement->value))
        return {{"ratio", thousandths(*ratio)}};
    const auto& histogram = std::get<Histogram>(measurement->value);
    return {{"p50", histogram.p50()}, {"p99", histogram.p99()}};
}

std::optional<std::uint64_t> value_of(const std::vector<Figure>& figures, std::string_view name) {
    for (const Figure& figure : figures)
        if (figure.name == name) return figure.value;
    return std::nullopt;
}

void compare_measurement(
    const std::string& gate, const Measurement* a, const Measurement* b, Comparison& out) {
    const Measurement& any = a == nullptr ? *b : *a;
    const std::vector<Figure> left = figures_of(a);
    const std::vector<Figure> right = figures_of(b);
    for (const Figure& figure : left.empty() ? right : left) {
        out.figures.push_back(
            {gate, any.name, figure.name, any.unit, value_of(left, figure.name),
             value_of(right, figure.name)});
    }
}

void compare_records(const GateRecord* a, const GateRecord* b, Comparison& out) {
    const GateRecord& any = a == nullptr ? *b : *a;
    ComparedVerdict verdict;
    verdict.gate = any.id;
    verdict.a = a == nullptr ? "absent" : std::string(to_string(a->verdict));
    verdict.b = b == nullptr ? "absent" : std::string(to_string(b->verdict));
    verdict.revisions_differ = a != nullptr && b != nullptr && a->revision != b->revision;
    out.verdicts.push_back(std::move(verdict));
    static const std::vector<Measurement> none;
    const auto& left = a == nullptr ? none : a->measurements;
    const auto& right = b == nullptr ? none : b->measurements;
    for (const Measurement& measurement : left)
        compare_measurement(any.id, &measurement, find_measurement(right, measurement.name), out);
    for (const Measurement& measurement : right) {
        if (find_measurement(left, measurement.name) == nullptr)
            compare_measurement(any.id, nullptr, &measurement, out);
    }
}

void warn(const Campaign& a, const Campaign& b, Comparison& out) {
    const auto differ = [&](std::string_view what, const std::string& left,
                            const std::string& right) {
        if (left != right)
            out.warnings.push_back(std::string(what) + " differs: " + left + " and " + right);
    };
    differ("host", a.host, b.host);
    differ("kernel", a.facts.kernel.release, b.facts.kernel.release);
    differ("processor", a.facts.machine.cpu_model, b.facts.machine.cpu_model);
    differ("filesystem", a.facts.storage.filesystem, b.facts.storage.filesystem);
    differ("device", a.facts.storage.device, b.facts.storage.device);
    if (a.records.empty() || b.records.empty()) return;
    differ("sample", a.records.front().sample, b.records.front().sample);
    differ(
        "build", a.records.front().run.build.preset + " " + a.records.front().run.build.flags,
        b.records.front().run.build.preset + " " + b.records.front().run.build.flags);
}

std::string shown(const std::optional<std::uint64_t>& value, const ComparedFigure& figure) {
    if (!value.has_value()) return "-";
    return figure.figure == "ratio" ? ratio_text(*value, 1000) : value_text(*value, figure.unit);
}

void nullable(JsonWriter& json, std::string_view name, const std::optional<std::uint64_t>& value) {
    if (value.has_value()) {
        json.field(name, *value);
    } else {
        json.field_null(name);
    }
}

} // namespace

Comparison compare_campaigns(const Campaign& a, const Campaign& b) {
    Comparison out;
    warn(a, b, out);
    for (const GateRecord& record : a.records)
        compare_records(&record, find_record(b, record.id), out);
    for (const GateRecord& record : b.records)
        if (find_record(a, record.id) == nullptr) compare_records(nullptr, &record, out);
    return out;
}

std::string comparison_text(const Campaign& a, const Campaign& b, const Comparison& comparison) {
    std::string text = "A  " + a.host + "/" + a.name + "\nB  " + b.host + "/" + b.name + "\n";
    for (const std::string& warning : comparison.warnings)
        text += "note: " + warning + "\n";
    TextTable verdicts({"gate", "A", "B"});
    for (const ComparedVerdict& row : comparison.verdicts)
        verdicts.row({row.gate, row.a, row.b + (row.revisions_differ ? " (other revision)" : "")});
    TextTable figures({"gate", "measurement", "figure", "A", "B", "B/A"});
    for (const ComparedFigure& row : comparison.figures) {
        const bool both = row.a.has_value() && row.b.has_value();
        figures.row(
            {row.gate, row.measurement, row.figure, shown(row.a, row), shown(row.b, row),
             both ? ratio_text(*row.b, *row.a) : "-"});
    }
    return text + "\n" + verdicts.plain() + "\n" + figures.plain();
}

std::string comparison_json(const Campaign& a, const Campaign& b, const Comparison& comparison) {
    JsonWriter json;
    json.field("schema", "promtact.comparison/1");
    json.field("a", a.host + "/" + a.name);
    json.field("b", b.host + "/" + b.name);
    json.strings("warnings", comparison.warnings);
    json.array("verdicts");
    for (const ComparedVerdict& row : comparison.verdicts) {
        json.object_item();
        json.field("gate", row.gate);
        json.field("a", row.a);
        json.field("b", row.b);
        json.field_bool("revisions_differ", row.revisions_differ);
        json.end();
    }
    json.end();
    json.array("figures");
    for (const ComparedFigure& row : comparison.figures) {
        json.object_item();
        json.field("gate", row.gate);
        json.field("measurement", row.measurement);
        json.field("figure", row.figure);
        json.field("unit", row.figure == "ratio" ? "thousandths" : row.unit);
        nullable(json, "a", row.a);
        nullable(json, "b", row.b);
        const bool both = row.a.has_value() && row.b.has_value();
        json.field("ratio", both ? ratio_text(*row.b, *row.a) : "n/a");
        json.end();
    }
    json.end();
    return json.finish();
}

} // namespace promtact::gates
