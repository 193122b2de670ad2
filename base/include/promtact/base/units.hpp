// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Quantities that carry their unit in the type. Durations are std::chrono; everything else that
// two people could read differently is here.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include <promtact/base/assert.hpp>

namespace promtact {

namespace detail {
constexpr std::uint64_t checked_add(std::uint64_t a, std::uint64_t b) noexcept {
    PROMTACT_ASSERT(b <= std::numeric_limits<std::uint64_t>::max() - a);
    return a + b;
}
constexpr std::uint64_t checked_subtract(std::uint64_t a, std::uint64_t b) noexcept {
    PROMTACT_ASSERT(b <= a);
    return a - b;
}
constexpr std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    PROMTACT_ASSERT(a == 0 || b <= std::numeric_limits<std::uint64_t>::max() / a);
    return a * b;
}
} // namespace detail

/// A size or an offset in bytes. Overflow and going below zero are assertions.
struct Bytes {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
    friend constexpr Bytes operator+(Bytes a, Bytes b) noexcept {
        return {detail::checked_add(a.value, b.value)};
    }
    friend constexpr Bytes operator-(Bytes a, Bytes b) noexcept {
        return {detail::checked_subtract(a.value, b.value)};
    }
    friend constexpr Bytes operator*(Bytes a, std::uint64_t count) noexcept {
        return {detail::checked_multiply(a.value, count)};
    }
    /// How many whole `part` fit. Requires: part > 0
    friend constexpr std::uint64_t operator/(Bytes a, Bytes part) noexcept {
        PROMTACT_ASSERT(part.value > 0);
        return a.value / part.value;
    }
    /// Requires: part > 0
    friend constexpr Bytes operator%(Bytes a, Bytes part) noexcept {
        PROMTACT_ASSERT(part.value > 0);
        return {a.value % part.value};
    }
    constexpr Bytes& operator+=(Bytes b) noexcept { return *this = *this + b; }
};

/// Requires: alignment > 0. The smallest multiple of alignment that is not below size.
constexpr Bytes round_up(Bytes size, Bytes alignment) noexcept {
    const Bytes rest = size % alignment;
    return rest.value == 0 ? size : size + (alignment - rest);
}

/// A span of virtual time: steps of the simulator.
struct Ticks {
    std::uint64_t value = 0;

    friend constexpr auto operator<=>(const Ticks&, const Ticks&) = default;
    friend constexpr Ticks operator+(Ticks a, Ticks b) noexcept {
        return {detail::checked_add(a.value, b.value)};
    }
    friend constexpr Ticks operator-(Ticks a, Ticks b) noexcept {
        return {detail::checked_subtract(a.value, b.value)};
    }
    friend constexpr Ticks operator*(Ticks a, std::uint64_t count) noexcept {
        return {detail::checked_multiply(a.value, count)};
    }
    constexpr Ticks& operator+=(Ticks b) noexcept { return *this = *this + b; }
};

/// A probability in parts per million, 0 .. 1,000,000. The only form files and decisions use.
struct Ppm {
    static constexpr std::uint32_t one = 1'000'000;

    std::uint32_t value = 0;

    constexpr Ppm() = default;
    /// Requires: parts <= one
    constexpr explicit Ppm(std::uint32_t parts) noexcept : value(parts) {
        PROMTACT_ASSERT(parts <= one);
    }
    friend constexpr auto operator<=>(const Ppm&, const Ppm&) = default;
};

/// A probability in parts per thousand: the legacy `dropPermille` field.
struct Permille {
    static constexpr std::uint32_t one = 1'000;

    std::uint32_t value = 0;

    constexpr Permille() = default;
    /// Requires: parts <= one
    constexpr explicit Permille(std::uint32_t parts) noexcept : value(parts) {
        PROMTACT_ASSERT(parts <= one);
    }
    [[nodiscard]] constexpr Ppm to_ppm() const noexcept { return Ppm(value * 1'000); }
    friend constexpr auto operator<=>(const Permille&, const Permille&) = default;
};

inline namespace literals {

consteval Bytes operator""_B(unsigned long long count) {
    return {count};
}
consteval Bytes operator""_KiB(unsigned long long count) {
    return {detail::checked_multiply(count, 1ULL << 10)};
}
consteval Bytes operator""_MiB(unsigned long long count) {
    return {detail::checked_multiply(count, 1ULL << 20)};
}
consteval Bytes operator""_GiB(unsigned long long count) {
    return {detail::checked_multiply(count, 1ULL << 30)};
}
consteval Ticks operator""_ticks(unsigned long long count) {
    return {count};
}
consteval Ppm operator""_ppm(unsigned long long parts) {
    PROMTACT_ASSERT(parts <= Ppm::one);
    return Ppm(static_cast<std::uint32_t>(parts));
}
consteval Permille operator""_permille(unsigned long long parts) {
    PROMTACT_ASSERT(parts <= Permille::one);
    return Permille(static_cast<std::uint32_t>(parts));
}

} // namespace literals

} // namespace promtact
