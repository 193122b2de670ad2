// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Records to JSON. Reading them back is record_reader.cpp; report_to_json crosses a pipe, not time.
#include <promtact/base/json_writer.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/gates/record.hpp>

#include "record_parts_internal.hpp"

namespace promtact::gates {
namespace {

void write_gate(JsonWriter& json, const GateRecord& record) {
    json.object("gate");
    json.field("id", record.id);
    json.field("revision", record.revision);
    json.field("tier", record.tier);
    json.field("class", record.gate_class);
    json.field("title", record.title);
    json.strings("qualifies", record.qualifies);
    json.strings("requires", record.requires_gates);
    json.end();
}

void write_text_or_null(JsonWriter& json, std::string_view name, const std::string& text) {
    if (text.empty()) {
        json.field_null(name);
    } else {
        json.field(name, text);
    }
}

void write_control(JsonWriter& json, const std::optional<ControlRecord>& control) {
    if (!control.has_value()) return json.field_null("control");
    json.object("control");
    json.field("name", control->name);
    json.field("expected", control->expected);
    json.field("observed", control->observed);
    write_text_or_null(json, "reason", control->reason);
    json.end();
}

void write_run(JsonWriter& json, const RunRecord& run) {
    json.object("run");
    json.field("started_at", run.started_at);
    json.field("duration_ns", run.duration_ns);
    json.field("commit", run.commit);
    json.field_bool("dirty", run.dirty);
    json.strings("command", run.command);
    json.object("build");
    json.field("preset", run.build.preset);
    json.field("compiler", run.build.compiler);
    json.field("flags", run.build.flags);
    json.field_bool("assertions", run.build.assertions);
    json.end();
    json.field("seed", format_seed(run.seed));
    json.end();
}

void write_peers_and_samples(JsonWriter& json, const GateRecord& record) {
    json.array("peers");
    for (const PeerRecord& peer : record.peers) {
        json.object_item();
        json.field("name", peer.name);
        json.field("version", peer.version);
        json.end();
    }
    json.end();
    json.array("samples");
    for (const SampleSeries& series : record.samples) {
        json.object_item();
        json.field("name", series.name);
        json.field("unit", series.unit);
        json.numbers("values", series.values);
        json.end();
    }
    json.end();
}

std::string text_of(const GateRecord& record) {
    JsonWriter json;
    json.field("schema", gate_result_schema);
    json.field("kind", to_string(record.kind));
    write_gate(json, record);
    json.field("verdict", to_string(record.verdict));
    write_text_or_null(json, "reason", record.reason);
    write_text_or_null(json, "remedy", record.remedy);
    write_text_or_null(json, "summary", record.summary);
    json.field("sample", record.sample);
    write_control(json, record.control);
    write_run(json, record.run);
    json.field("host", record.host);
    write_parameters(json, record.parameters);
    write_measurements(json, record.measurements);
    write_peers_and_samples(json, record);
    json.field("establishes", record.establishes);
    json.field("does_not_establish", record.does_not_establish);
    json.strings("notes", record.notes);
    return json.finish();
}

std::vector<std::string> copy_of(std::span<const std::string_view> texts) {
    return {texts.begin(), texts.end()};
}

} // namespace

std::string_view to_string(RecordKind kind) noexcept {
    return kind == RecordKind::gate ? "gate" : "benchmark";
}

GateRecord record_of(const GateInfo& info, GateClass sample) {
    GateRecord record;
    record.id = info.id;
    record.revision = info.revision;
    record.tier = to_string(info.tier);
    record.qualifies = copy_of(info.qualifies);
    record.requires_gates = copy_of(info.requires_gates);
    record.gate_class = to_string(info.gate_class);
    record.sample = to_string(sample);
    record.title = info.title;
    record.establishes = info.establishes;
    record.does_not_establish = info.does_not_establish;
    return record;
}

Result<std::string> to_json(const GateRecord& record) {
    std::string text = text_of(record);
    PROMTACT_TRY_ASSIGN(const GateRecord back, gate_record_from_json(text, record.id + ".json"));
    if (text_of(back) != text) {
        return Error{
            Errc::format, 0, "result of " + record.id + " does not survive being read back"};
    }
    return text;
}

std::string report_to_json(const Result<GateReport>& answer) {
    JsonWriter json;
    if (!answer) {
        json.object("error");
        json.field("code", static_cast<std::uint64_t>(answer.error().code));
        json.field("errno", static_cast<std::uint64_t>(answer.error().sys_errno));
        json.field("context", answer.error().context);
        json.end();
        return json.finish();
    }
    json.field("verdict", to_string(answer->verdict));
    json.field("reason", answer->reason);
    json.field("remedy", answer->remedy);
    json.field("summary", answer->summary);
    write_parameters(json, answer->parameters);
    write_measurements(json, answer->measurements);
    json.strings("notes", answer->notes);
    return json.finish();
}

const Measurement*
find_measurement(const std::vector<Measurement>& list, std::string_view name) noexcept {
    for (const Measurement& measurement : list)
        if (measurement.name == name) return &measurement;
    return nullptr;
}

std::string parameter_text(const Parameter& parameter) {
    if (const auto* number = std::get_if<std::uint64_t>(&parameter.value))
        return std::to_string(*number);
    if (const auto* truth = std::get_if<bool>(&parameter.value)) return *truth ? "yes" : "no";
    return std::get<std::string>(parameter.value);
}

} // namespace promtact::gates
