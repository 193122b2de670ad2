// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The scenario file: strict JSON, every problem reported with its line and column. Fields, units
// and ranges: docs/SCENARIO.md
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/scenario.hpp>

namespace promtact::scenario {

/// Reads the fields of a scenario and notes all that is wrong with them. Callers use the value only
/// when problems stay empty. A delay by results keeps its table empty.
Scenario read_scenario(const JsonValue& value, JsonProblems& problems);

/// Errors: format, all problems as "source:line:column: message", one a line
Result<Scenario> read_scenario(std::string_view text, std::string_view source);

/// Reads the file, and the results that its delays name; their paths are relative to it.
/// Errors: format; not_found, io and what else reading a file may answer
Result<Scenario> load_scenario(const std::filesystem::path& path);

/// Fills the tables of delays by results. directory: what their paths are relative to.
/// Errors: as load_scenario
Result<void> load_tables(Scenario& scenario, const std::filesystem::path& directory);

/// The fields of a scenario into an object that is open, those at their defaults left out.
void write_scenario(JsonWriter& json, const Scenario& scenario);
/// The same as a file: what read_scenario() makes of it is equal.
std::string write_scenario(const Scenario& scenario);

} // namespace promtact::scenario
