// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A case in a file, with what came of it: what --record and the shrinker write, and replay and diff
// read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/engine/event.hpp>
#include <promtact/sim/run.hpp>

namespace promtact::sim {

/// How the recorded run ended.
struct Outcome {
    engine::Verdict verdict = engine::Verdict::pass;
    std::string property{}; // what was broken
    std::string key{};      // see engine::Broken
    std::string text{};
    std::uint64_t step = 0;
    std::uint64_t events = 0; // all of the run, even when fewer are kept
    Digest128 trace{};
    friend bool operator==(const Outcome&, const Outcome&) = default;
};
Outcome outcome_of(const RunReport& report);
/// As fields of an object that is open.
void write_outcome_fields(JsonWriter& json, const Outcome& outcome);
Outcome read_outcome_fields(ObjectReader& fields);

struct Recording {
    std::string protocol{};
    Case run{};
    Outcome outcome{};
    std::vector<engine::Event> events{}; // the first recording_events_max
};
inline constexpr std::size_t recording_events_max = 200'000;

/// Runs the case and records it, with the fates of all messages.
Recording record(const Protocol& protocol, const Case& run);

/// As the text of a file; read_recording() is its inverse.
std::string write_recording(const Recording& recording);
/// Durability: complete or not there at all; synced. Errors: io
Result<void> save_recording(const std::filesystem::path& path, const Recording& recording);
/// Errors: format, naming line and column; not_found, io
Result<Recording> load_recording(const std::filesystem::path& path);
/// The same of a text. source: for messages
Result<Recording> read_recording(std::string_view text, std::string_view source);

/// The first event in which two runs differ, in words; nothing when they are the same run.
std::optional<std::string> first_difference(const Recording& a, const Recording& b);

} // namespace promtact::sim
