// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A result as a file: what was asked, of which host, by which build, with which outcome. The same
// schema carries gates and benchmarks, so that both are rendered and checked alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/result.hpp>
#include <promtact/gates/gate.hpp>

namespace promtact::gates {

inline constexpr std::string_view gate_result_schema = "promtact.gate-result/1";

enum class RecordKind : std::uint8_t { gate, benchmark };
std::string_view to_string(RecordKind kind) noexcept;

/// What the negative control was and did. Absent when the body never ran (grey) and in benchmarks.
struct ControlRecord {
    std::string name{};
    std::string expected = "fail";
    std::string observed{}; // a verdict
    std::string reason{};   // why the control failed, in the body's own words
    friend bool operator==(const ControlRecord&, const ControlRecord&) = default;
};

struct BuildRecord {
    std::string preset{}; // or the build type when configured without a preset
    std::string compiler{};
    std::string flags{};
    bool assertions = true;
    friend bool operator==(const BuildRecord&, const BuildRecord&) = default;
};

struct RunRecord {
    std::string started_at{};      // "2026-11-29T20:48:20Z"
    std::uint64_t duration_ns = 0; // control and body
    std::string commit{};          // 40 hexadecimal digits, or "unknown"
    bool dirty = false;
    std::vector<std::string> command{};
    BuildRecord build{};
    std::uint64_t seed = 0;
    friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// Somebody else's program that ran beside ours, for example fio.
struct PeerRecord {
    std::string name{};
    std::string version{};
    friend bool operator==(const PeerRecord&, const PeerRecord&) = default;
};

/// Raw samples behind a figure, for example one throughput per interleaved run.
struct SampleSeries {
    std::string name{};
    std::string unit{};
    std::vector<std::uint64_t> values{};
    friend bool operator==(const SampleSeries&, const SampleSeries&) = default;
};

struct GateRecord {
    RecordKind kind = RecordKind::gate;
    std::string id{};
    std::uint64_t revision = 1;
    std::string tier{};
    std::vector<std::string> qualifies{};
    std::vector<std::string> requires_gates{};
    std::string gate_class{}; // quick, full
    std::string sample{};     // quick, full: how much was measured
    std::string title{};
    Verdict verdict = Verdict::error;
    std::string reason{}; // empty exactly when the verdict is pass
    std::string remedy{};
    std::string summary{};
    std::optional<ControlRecord> control{};
    RunRecord run{};
    std::string host{}; // "host.json#sha256:<64 hex>"
    std::vector<Parameter> parameters{};
    std::vector<Measurement> measurements{};
    std::vector<PeerRecord> peers{};
    std::vector<SampleSeries> samples{};
    std::string establishes{};
    std::string does_not_establish{};
    std::vector<std::string> notes{};
};

/// The record of a gate before it ran: every field that GateInfo fixes.
GateRecord record_of(const GateInfo& info, GateClass sample);

/// Byte-stable: equal records give equal text. The text is read back with the strict reader first.
/// Errors: format when the record breaks a rule of the schema (names the field).
Result<std::string> to_json(const GateRecord& record);

/// Strict. Errors: format, one line "source:line:column: …" per problem.
Result<GateRecord> gate_record_from_json(std::string_view text, std::string_view source);

/// What a body answered: a report, or the error it returned instead.
struct GateOutcome {
    GateReport report{};
    std::optional<Error> error{};
};

/// A body's answer on its way from the child process to the runner: the same fields, without host
/// and run. Errors: format.
std::string report_to_json(const Result<GateReport>& answer);
Result<GateOutcome> outcome_from_json(std::string_view text);

/// The measurement of that name, or nullptr.
const Measurement*
find_measurement(const std::vector<Measurement>& list, std::string_view name) noexcept;

/// A parameter's value as people read it: "10000", "ext4", "yes".
std::string parameter_text(const Parameter& parameter);

} // namespace promtact::gates
