// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The parts of a result that a report and a record share.
#pragma once

#include <vector>

#include <promtact/base/json_reader.hpp>
#include <promtact/base/json_writer.hpp>
#include <promtact/gates/measurement.hpp>

namespace promtact::gates {

void write_parameters(JsonWriter& json, const std::vector<Parameter>& parameters);
void write_measurements(JsonWriter& json, const std::vector<Measurement>& measurements);

std::vector<Parameter> read_parameters(const JsonValue* object, JsonProblems& problems);
std::vector<Measurement> read_measurements(const JsonValue* array, JsonProblems& problems);

} // namespace promtact::gates
