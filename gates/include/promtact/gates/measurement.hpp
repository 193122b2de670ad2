// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a gate measured. Integers in base units only; a ratio is a pair of integers.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <promtact/base/histogram.hpp>

namespace promtact::gates {

/// A single number, for example a count of operations per second.
struct Scalar {
    std::uint64_t value = 0;
    friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// numerator / denominator, rendered with three decimals. Both in the measurement's unit.
struct Ratio {
    std::uint64_t numerator = 0;
    std::uint64_t denominator = 1;
    friend bool operator==(const Ratio&, const Ratio&) = default;
};

struct Measurement {
    std::string name{};   // snake_case, unique within a result
    std::string unit{};   // ns, bytes, operations_per_second, packets, count, ppm
    std::string method{}; // how it was obtained, one sentence
    std::variant<Scalar, Ratio, Histogram> value{};
};

/// One parameter of the run, for example {"operations", 10000} or {"filesystem", "ext4"}.
struct Parameter {
    std::string name{};
    std::variant<std::uint64_t, std::string, bool> value{};
};

} // namespace promtact::gates
