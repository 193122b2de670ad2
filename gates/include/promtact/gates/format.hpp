// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Integers as people read them, by integer arithmetic alone, so that a page rendered anywhere has
// the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <promtact/gates/measurement.hpp>

namespace promtact::gates {

/// "1,234,567"
std::string grouped(std::uint64_t number);

/// Three significant digits, rounded half up: "812 ns", "17.7 µs", "412 ms", "4.13 s".
std::string duration_text(std::uint64_t nanoseconds);

/// A value with its unit: ns as duration_text, others grouped ("7,170 operations/s", "4,096 bytes",
/// "10.0 %" for ppm).
std::string value_text(std::uint64_t value, std::string_view unit);

/// numerator / denominator with three decimals, rounded half up: "0.953". "n/a" when the
/// denominator is 0.
std::string ratio_text(std::uint64_t numerator, std::uint64_t denominator);

/// A measurement on one line: "p50 17.7 µs · p99 …" for histograms, the value otherwise.
std::string measurement_text(const Measurement& measurement);

} // namespace promtact::gates
