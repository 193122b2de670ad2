// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/gates/format.hpp>

namespace promtact::gates {
namespace {

// value / divisor with three significant digits; value / divisor is in 1 .. 9999.
std::string three_digits(std::uint64_t value, std::uint64_t divisor) {
    const std::uint64_t whole = value / divisor;
    const std::uint64_t decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
    const std::uint64_t scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
    // In units of divisor / scale, rounded half up.
    const std::uint64_t step = divisor / scale;
    const std::uint64_t scaled = value / step + (value % step * 2 >= step ? 1 : 0);
    std::string text = std::to_string(scaled / scale);
    if (decimals == 0) return text;
    std::string rest = std::to_string(scaled % scale);
    rest.insert(0, decimals - rest.size(), '0');
    return text + "." + rest;
}

} // namespace

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3; at -= 3)
        text.insert(at - 3, ",");
    return text;
}

std::string duration_text(std::uint64_t nanoseconds) {
    // The next unit begins where rounding would show 1000 of this one.
    if (nanoseconds < 1'000) return std::to_string(nanoseconds) + " ns";
    if (nanoseconds < 999'500) return three_digits(nanoseconds, 1'000) + " µs";
    if (nanoseconds < 999'500'000)
        return three_digits(std::max<std::uint64_t>(nanoseconds, 1'000'000), 1'000'000) + " ms";
    if (nanoseconds < 9'999'000'000'000) {
        return three_digits(std::max<std::uint64_t>(nanoseconds, 1'000'000'000), 1'000'000'000) +
               " s";
    }
    return grouped(nanoseconds / 1'000'000'000) + " s";
}

std::string value_text(std::uint64_t value, std::string_view unit) {
    if (unit == "ns") return duration_text(value);
    if (unit == "operations_per_second") return grouped(value) + " operations/s";
    if (unit == "ppm") {
        const std::uint64_t hundredths = value / 100 + (value % 100 >= 50 ? 1 : 0);
        const std::string rest = std::to_string(hundredths % 100);
        return std::to_string(hundredths / 100) + "." + (rest.size() == 1 ? "0" : "") + rest + " %";
    }
    if (unit.empty() || unit == "count") return grouped(value);
    std::string name(unit);
    std::replace(name.begin(), name.end(), '_', ' ');
    return grouped(value) + " " + name;
}

std::string ratio_text(std::uint64_t numerator, std::uint64_t denominator) {
    if (denominator == 0) return "n/a";
    const std::uint64_t whole = numerator / denominator;
    std::uint64_t rest = numerator % denominator;
    std::uint64_t thousandths = 0;
    // Long division, since rest * 1000 may not fit. One digit more decides the rounding.
    for (int digit = 0; digit < 4; ++digit) {
        std::uint64_t quotient = 0;
        std::uint64_t next = 0; // rest * 10 modulo denominator, by ten additions
        for (int i = 0; i < 10; ++i) {
            if (next >= denominator - rest) {
                next -= denominator - rest;
                ++quotient;
            } else {
                next += rest;
            }
        }
        rest = next;
        thousandths = thousandths * 10 + quotient;
    }
    thousandths = thousandths / 10 + (thousandths % 10 >= 5 ? 1 : 0);
    std::string decimals = std::to_string(thousandths % 1000);
    decimals.insert(0, 3 - decimals.size(), '0');
    return std::to_string(whole + thousandths / 1000) + "." + decimals;
}

std::string measurement_text(const Measurement& measurement) {
    if (const auto* scalar = std::get_if<Scalar>(&measurement.value))
        return value_text(scalar->value, measurement.unit);
    if (const auto* ratio = std::get_if<Ratio>(&measurement.value))
        return ratio_text(ratio->numerator, ratio->denominator);
    const auto& histogram = std::get<Histogram>(measurement.value);
    return "p50 " + value_text(histogram.p50(), measurement.unit) + ", p99 " +
           value_text(histogram.p99(), measurement.unit) + ", max " +
           value_text(histogram.max(), measurement.unit);
}

} // namespace promtact::gates
