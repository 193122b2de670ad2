// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Numbers as people and files write them: seeds, counts, sizes. Integers only.
// Durations are in durations.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/base/units.hpp>

namespace promtact {

namespace detail {

constexpr bool is_blank(char c) noexcept {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// The value of a digit, 36 for anything else.
constexpr std::uint32_t digit_value(char c) noexcept {
    if (is_digit(c)) return static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A') + 10;
    return 36;
}

/// Untrusted text inside a message: at most 40 characters, control characters as '?'.
inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text.substr(0, 40))
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    return out + (text.size() > 40 ? "…\"" : "\"");
}

inline Error bad_number(std::string_view text, std::string_view why) {
    return {Errc::invalid_argument, 0, quoted(text) + " " + std::string(why)};
}

inline Error too_large(std::string_view text, std::string_view limit) {
    return {Errc::out_of_range, 0, quoted(text) + " is larger than " + std::string(limit)};
}

/// Removes 0x, 0o or 0b and returns the base it names, 10 without one.
constexpr std::uint32_t take_base(std::string_view& digits) noexcept {
    if (digits.size() < 2 || digits[0] != '0') return 10;
    const char mark = digits[1];
    const std::uint32_t base = mark == 'x' || mark == 'X'   ? 16
                               : mark == 'o' || mark == 'O' ? 8
                               : mark == 'b' || mark == 'B' ? 2
                                                            : 10;
    if (base != 10) digits.remove_prefix(2);
    return base;
}

/// Digits of a base, with single underscores between digits (and after a prefix, as in 0x_ff).
/// `text` is the whole as typed, for messages.
inline Result<std::uint64_t> parse_digits(
    std::string_view text, std::string_view digits, std::uint32_t base, bool after_prefix) {
    constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    PROMTACT_ASSERT(base >= 2);
    PROMTACT_ASSERT(base <= 16);
    std::uint64_t value = 0;
    bool underscore_allowed = after_prefix;
    bool any = false;
    bool overflow = false;
    for (const char c : digits) {
        if (c == '_' && underscore_allowed) {
            underscore_allowed = false;
            any = false;
            continue;
        }
        const std::uint32_t digit = digit_value(c);
        if (digit >= base) {
            return bad_number(
                text, "is not a whole number (decimal, or 0x, 0o, 0b; single underscores between "
                      "digits)");
        }
        if (value > (max - digit) / base) overflow = true;
        if (!overflow) value = value * base + digit;
        any = true;
        underscore_allowed = true;
    }
    if (!any) return bad_number(text, "is not a whole number: digits are missing");
    if (overflow) return too_large(text, "18446744073709551615");
    return value;
}

/// octal_zero: a leading 0 means octal, as Go reads it; otherwise it is refused as ambiguous.
inline Result<std::uint64_t>
parse_unsigned(std::string_view text, std::string_view digits, bool octal_zero) {
    const std::size_t typed = digits.size();
    std::uint32_t base = take_base(digits);
    const bool prefixed = digits.size() != typed;
    if (!prefixed && digits.size() > 1 && digits[0] == '0') {
        if (!octal_zero)
            return bad_number(text, "has a leading zero: write 0o for octal, or drop the zero");
        base = 8;
    }
    return parse_digits(text, digits, base, prefixed);
}

struct Unit {
    std::string_view name{};
    std::uint64_t factor = 1;
};

/// Decimal digits at the front of text, removed from it.
constexpr std::string_view take_digits(std::string_view& text) noexcept {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count]))
        ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

/// ASCII letters and the bytes of µ and μ at the front of text, removed from it.
constexpr std::string_view take_unit(std::string_view& text) noexcept {
    std::size_t count = 0;
    while (count < text.size() && !is_digit(text[count]) && text[count] != '.')
        ++count;
    const std::string_view unit = text.substr(0, count);
    text.remove_prefix(count);
    return unit;
}

/// The factor of a unit, 0 when it is not in the list.
template <std::size_t N>
constexpr std::uint64_t factor_of(const Unit (&units)[N], std::string_view name) noexcept {
    for (const Unit& unit : units)
        if (unit.name == name) return unit.factor;
    return 0;
}

// The first entry that divides a value formats it.
inline constexpr Unit size_units[] = {
    {"TiB", 1ULL << 40},
    {"GiB", 1ULL << 30},
    {"MiB", 1ULL << 20},
    {"KiB", 1ULL << 10},
    {"B", 1},
    {"", 1},
    {"kB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000}};

template <std::size_t N>
inline std::string format_exactly(std::uint64_t value, const Unit (&units)[N]) {
    for (const Unit& unit : units) {
        if (value >= unit.factor && value % unit.factor == 0)
            return std::to_string(value / unit.factor) + std::string(unit.name);
    }
    PROMTACT_UNREACHABLE();
}

} // namespace detail

/// A count or size in a flag or file: decimal, 0x, 0o or 0b, surrounding blanks ignored. A leading
/// zero is refused, because half of the readers take it for octal.
/// Errors: invalid_argument; out_of_range above 2^64-1.
inline Result<std::uint64_t> parse_u64(std::string_view text) {
    const std::string_view digits = detail::trimmed(text);
    return detail::parse_unsigned(text, digits, false);
}

/// A seed: every form of parse_u64, the reference's signed form (-1 is 2^64-1, down to -2^63), a
/// plus sign, and a leading zero for octal, so that a run file of the reference names the same
/// seed here. Errors: invalid_argument; out_of_range.
inline Result<std::uint64_t> parse_seed(std::string_view text) {
    std::string_view digits = detail::trimmed(text);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    PROMTACT_TRY_ASSIGN(const std::uint64_t magnitude, detail::parse_unsigned(text, digits, true));
    if (!negative) return magnitude;
    constexpr std::uint64_t most = std::uint64_t{1} << 63;
    if (magnitude > most) {
        return Error{
            Errc::out_of_range, 0, detail::quoted(text) + " is below -9223372036854775808"};
    }
    return std::uint64_t{0} - magnitude;
}

/// "0x4A2C": how seeds are shown everywhere; parse_seed reads it back.
inline std::string format_seed(std::uint64_t seed) {
    std::string text;
    do {
        text.insert(text.begin(), "0123456789ABCDEF"[seed & 0xfU]);
        seed >>= 4;
    } while (seed != 0);
    return "0x" + text;
}

/// "4096", "4KiB", "1GiB", "500MB": KiB, MiB, GiB, TiB are powers of two, kB, MB, GB, TB powers of
/// ten. A bare k or M is refused: tools disagree on what it means.
/// Errors: invalid_argument; out_of_range above 2^64-1.
inline Result<Bytes> parse_size(std::string_view text) {
    std::string_view rest = detail::trimmed(text);
    if (rest.starts_with("0x") || rest.starts_with("0X")) {
        PROMTACT_TRY_ASSIGN(const std::uint64_t plain, parse_u64(rest));
        return Bytes{plain};
    }
    const std::string_view digits = detail::take_digits(rest);
    rest = detail::trimmed(rest);
    const std::uint64_t factor = detail::factor_of(detail::size_units, rest);
    if (digits.empty() || factor == 0) {
        return detail::bad_number(
            text, "is not a size: write bytes, or a whole number with KiB, MiB, GiB, TiB, kB, MB, "
                  "GB or TB");
    }
    PROMTACT_TRY_ASSIGN(const std::uint64_t count, detail::parse_digits(text, digits, 10, false));
    if (count > std::numeric_limits<std::uint64_t>::max() / factor)
        return detail::too_large(text, "18446744073709551615 bytes");
    return Bytes{count * factor};
}

/// The shortest exact form: "4KiB", "1GiB", "4097B"; parse_size reads it back.
inline std::string format_size(Bytes size) {
    if (size.value == 0) return "0B";
    return detail::format_exactly(size.value, detail::size_units);
}

} // namespace promtact
