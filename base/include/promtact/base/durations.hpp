// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Durations as people and files write them. Integers only. Not part of the pure set: in virtual
// time a duration is Ticks.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <promtact/base/numbers.hpp>

namespace promtact {

namespace detail {

// Largest first within a name family; the first entry that divides a value formats it.
inline constexpr Unit duration_units[] = {
    {"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000},
    {"ms", 1'000'000},        {"us", 1'000},         {"ns", 1},
    {"\u00b5s", 1'000},       {"\u03bcs", 1'000}};
} // namespace detail

/// "25ms", "1m", "1m30s", "300us", "0": whole numbers of h, m, s, ms, us (also µs), ns.
/// Errors: invalid_argument (a fraction names the remedy); out_of_range above 2^63-1 ns.
inline Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    constexpr std::string_view expected =
        "is not a duration: write whole numbers with h, m, s, ms, us or ns, like 25ms or 1m30s";
    std::string_view rest = detail::trimmed(text);
    if (rest == "0") return std::chrono::nanoseconds{0};
    if (rest.empty()) return detail::bad_number(text, expected);
    std::uint64_t total = 0;
    while (!rest.empty()) {
        const std::string_view digits = detail::take_digits(rest);
        if (rest.starts_with('.')) {
            return detail::bad_number(
                text, "has a fraction: use a smaller unit, for example 1500ms for 1.5s");
        }
        const std::uint64_t factor =
            detail::factor_of(detail::duration_units, detail::take_unit(rest));
        if (digits.empty() || factor == 0) return detail::bad_number(text, expected);
        PROMTACT_TRY_ASSIGN(
            const std::uint64_t count, detail::parse_digits(text, digits, 10, false));
        if (count > (max - total) / factor) return detail::too_large(text, "292 years");
        total += count * factor;
    }
    return std::chrono::nanoseconds{static_cast<std::int64_t>(total)};
}

/// The shortest exact form with one unit: "25ms", "90s", "0ns"; parse_duration reads it back.
/// Requires: duration >= 0
inline std::string format_duration(std::chrono::nanoseconds duration) {
    PROMTACT_ASSERT(duration.count() >= 0);
    if (duration.count() == 0) return "0ns";
    return detail::format_exactly(
        static_cast<std::uint64_t>(duration.count()), detail::duration_units);
}

} // namespace promtact
