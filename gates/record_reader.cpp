// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Results are read as strictly as they are written: whatever the schema does not name is an error.
#include <algorithm>

#include <promtact/base/clock.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/gates/record.hpp>

#include "record_parts_internal.hpp"

namespace promtact::gates {
namespace {

bool is_hex(std::string_view text, std::size_t length) {
    return text.size() == length &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::vector<std::string> texts(const JsonValue* array, JsonProblems& problems) {
    return array == nullptr ? std::vector<std::string>{} : string_items(*array, problems);
}

Verdict read_verdict(ObjectReader& reader, std::string_view name) {
    const std::string word = reader.require_string(name);
    const std::optional<Verdict> verdict = verdict_from(word);
    if (!verdict.has_value() && !word.empty()) {
        reader.complain(
            name, "\"" + word +
                      "\" is no verdict (pass, fail, unsupported, denied, "
                      "blocked, error)");
    }
    return verdict.value_or(Verdict::error);
}

void read_gate(const JsonValue* object, GateRecord& record, JsonProblems& problems) {
    if (object == nullptr) return;
    ObjectReader reader(*object, problems);
    record.id = reader.require_string("id");
    const bool named =
        !record.id.empty() &&
        record.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!named && !record.id.empty()) reader.complain("id", "may hold a-z, 0-9 and _ only");
    record.revision = reader.require_u64("revision", 1);
    record.tier = reader.require_string("tier");
    if (!one_of(record.tier, {"kernel", "storage", "network", "protocol", "model"}))
        reader.complain("tier", "must be kernel, storage, network, protocol or model");
    record.gate_class = reader.require_string("class");
    if (!one_of(record.gate_class, {"quick", "full"}))
        reader.complain("class", "must be quick or full");
    record.title = reader.require_string("title");
    record.qualifies = texts(reader.require_array("qualifies"), problems);
    record.requires_gates = texts(reader.require_array("requires"), problems);
    reader.finish();
}

std::optional<ControlRecord> read_control(const JsonValue* value, JsonProblems& problems) {
    if (value == nullptr || value->kind == JsonKind::null) return std::nullopt;
    ObjectReader reader(*value, problems);
    ControlRecord control;
    control.name = reader.require_string("name");
    control.expected = reader.require_string("expected");
    if (control.expected != "fail") reader.complain("expected", "must be \"fail\"");
    control.observed = to_string(read_verdict(reader, "observed"));
    control.reason = reader.require_string_or_null("reason").value_or("");
    reader.finish();
    return control;
}

BuildRecord read_build(const JsonValue* object, JsonProblems& problems) {
    if (object == nullptr) return {};
    ObjectReader reader(*object, problems);
    BuildRecord build;
    build.preset = reader.require_string("preset");
    build.compiler = reader.require_string("compiler");
    build.flags = reader.require_string("flags");
    build.assertions = reader.require_bool("assertions");
    reader.finish();
    return build;
}

RunRecord read_run(const JsonValue* object, JsonProblems& problems) {
    if (object == nullptr) return {};
    ObjectReader reader(*object, problems);
    RunRecord run;
    run.started_at = reader.require_string("started_at");
    if (!parse_utc(run.started_at))
        reader.complain("started_at", "must look like 2026-11-29T20:48:20Z");
    run.duration_ns = reader.require_u64("duration_ns");
    run.commit = reader.require_string("commit");
    if (run.commit != "unknown" && !is_hex(run.commit, 40))
        reader.complain("commit", "must be 40 hexadecimal digits or \"unknown\"");
    run.dirty = reader.require_bool("dirty");
    run.command = texts(reader.require_array("command"), problems);
    run.build = read_build(reader.require_object("build"), problems);
    const std::string seed = reader.require_string("seed");
    const Result<std::uint64_t> number = parse_seed(seed);
    if (!number) {
        reader.complain("seed", "is no seed: " + number.error().context);
    } else if (format_seed(*number) != seed) {
        reader.complain("seed", "must be written " + format_seed(*number));
    } else {
        run.seed = *number;
    }
    reader.finish();
    return run;
}

std::vector<PeerRecord> read_peers(const JsonValue* array, JsonProblems& problems) {
    std::vector<PeerRecord> peers;
    if (array == nullptr) return peers;
    for (const JsonValue& item : array->children) {
        ObjectReader reader(item, problems);
        PeerRecord peer;
        peer.name = reader.require_string("name");
        peer.version = reader.require_string("version");
        reader.finish();
        peers.push_back(std::move(peer));
    }
    return peers;
}

std::vector<SampleSeries> read_samples(const JsonValue* array, JsonProblems& problems) {
    std::vector<SampleSeries> samples;
    if (array == nullptr) return samples;
    for (const JsonValue& item : array->children) {
        ObjectReader reader(item, problems);
        SampleSeries series;
        series.name = reader.require_string("name");
        series.unit = reader.require_string("unit");
        if (const JsonValue* values = reader.require_array("values"); values != nullptr)
            series.values = unsigned_items(*values, problems);
        reader.finish();
        samples.push_back(std::move(series));
    }
    return samples;
}

RecordKind read_kind(ObjectReader& reader) {
    const std::string kind = reader.require_string("kind");
    if (!kind.empty() && !one_of(kind, {"gate", "benchmark"}))
        reader.complain("kind", "must be gate or benchmark");
    return kind == "benchmark" ? RecordKind::benchmark : RecordKind::gate;
}

// Rules that span fields.
void check_record(ObjectReader& reader, const GateRecord& record) {
    if (record.verdict == Verdict::pass && !record.reason.empty())
        reader.complain("reason", "must be null when the verdict is pass");
    if (record.verdict != Verdict::pass && record.reason.empty())
        reader.complain("reason", "is required when the verdict is not pass");
    const bool controlled = record.control.has_value() && record.control->observed == "fail";
    if (record.kind == RecordKind::gate && record.verdict == Verdict::pass && !controlled)
        reader.complain("control", "of a passed gate must have been observed to fail");
    const std::string_view host = record.host;
    constexpr std::string_view prefix = "host.json#sha256:";
    if (!host.starts_with(prefix) || !is_hex(host.substr(std::min(prefix.size(), host.size())), 64))
        reader.complain("host", "must be host.json#sha256: and 64 hexadecimal digits");
}

void read_root(ObjectReader& reader, GateRecord& record, JsonProblems& problems) {
    if (reader.require_string("schema") != gate_result_schema)
        reader.complain("schema", "must be \"" + std::string(gate_result_schema) + "\"");
    record.kind = read_kind(reader);
    read_gate(reader.require_object("gate"), record, problems);
    record.verdict = read_verdict(reader, "verdict");
    record.reason = reader.require_string_or_null("reason").value_or("");
    record.remedy = reader.require_string_or_null("remedy").value_or("");
    record.summary = reader.require_string_or_null("summary").value_or("");
    record.sample = reader.require_string("sample");
    if (!one_of(record.sample, {"quick", "full"}))
        reader.complain("sample", "must be quick or full");
    const JsonValue* control = reader.any("control");
    if (control == nullptr) reader.complain("control", "is missing (null when there was none)");
    record.control = read_control(control, problems);
    record.run = read_run(reader.require_object("run"), problems);
    record.host = reader.require_string("host");
    record.parameters = read_parameters(reader.require_object("parameters"), problems);
    record.measurements = read_measurements(reader.require_array("measurements"), problems);
    record.peers = read_peers(reader.require_array("peers"), problems);
    record.samples = read_samples(reader.require_array("samples"), problems);
    record.establishes = reader.require_string("establishes");
    record.does_not_establish = reader.require_string("does_not_establish");
    record.notes = texts(reader.require_array("notes"), problems);
}

Error read_error(const JsonValue& object, JsonProblems& problems) {
    ObjectReader reader(object, problems);
    Error error;
    const auto last = static_cast<std::uint64_t>(Errc::system);
    error.code = static_cast<Errc>(reader.require_u64("code", 0, last));
    error.sys_errno = static_cast<int>(reader.require_u64("errno", 0, 4095));
    error.context = reader.require_string("context");
    reader.finish();
    return error;
}

GateReport read_report(ObjectReader& reader, JsonProblems& problems) {
    GateReport report;
    report.verdict = read_verdict(reader, "verdict");
    report.reason = reader.require_string("reason");
    report.remedy = reader.require_string("remedy");
    report.summary = reader.require_string("summary");
    report.parameters = read_parameters(reader.require_object("parameters"), problems);
    report.measurements = read_measurements(reader.require_array("measurements"), problems);
    report.notes = texts(reader.require_array("notes"), problems);
    return report;
}

} // namespace

Result<GateRecord> gate_record_from_json(std::string_view text, std::string_view source) {
    JsonProblems problems;
    const std::optional<JsonValue> root = parse_json(text, problems);
    if (!root.has_value()) return problems.to_error(source);
    require_printable(*root, problems);
    GateRecord record;
    ObjectReader reader(*root, problems);
    read_root(reader, record, problems);
    check_record(reader, record);
    reader.finish();
    if (!problems.empty()) return problems.to_error(source);
    return record;
}

Result<GateOutcome> outcome_from_json(std::string_view text) {
    JsonProblems problems;
    const std::optional<JsonValue> root = parse_json(text, problems);
    if (!root.has_value()) return problems.to_error("report");
    ObjectReader reader(*root, problems);
    GateOutcome outcome;
    if (const JsonValue* error = reader.optional_object("error"); error != nullptr) {
        outcome.error = read_error(*error, problems);
    } else {
        outcome.report = read_report(reader, problems);
    }
    reader.finish();
    if (!problems.empty()) return problems.to_error("report");
    return outcome;
}

} // namespace promtact::gates
