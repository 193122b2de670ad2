// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Little-endian integers in byte buffers. Every access asserts its bounds; a bound that comes from
// outside must be checked by the caller first, because crossing it here ends the process.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include <promtact/base/assert.hpp>

namespace promtact {

namespace detail {
template <std::unsigned_integral T>
constexpr T to_little_endian(T value) noexcept {
    if constexpr (std::endian::native == std::endian::little || sizeof(T) == 1) return value;
    if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}
} // namespace detail

/// An integer of fixed width that can be stored. bool is excluded: its other 254 values are traps.
template <class T>
concept StoredInteger = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>;

/// Requires: offset + sizeof(T) <= buffer.size()
template <StoredInteger T>
[[nodiscard]] constexpr T load_le(std::span<const std::byte> buffer, std::size_t offset) noexcept {
    PROMTACT_ASSERT(offset <= buffer.size());
    PROMTACT_ASSERT(sizeof(T) <= buffer.size() - offset);
    using Unsigned = std::make_unsigned_t<T>;
    Unsigned value = 0;
    if (std::is_constant_evaluated()) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            value = static_cast<Unsigned>(
                value | static_cast<Unsigned>(
                            static_cast<Unsigned>(std::to_integer<std::uint8_t>(buffer[offset + i]))
                            << (8 * i)));
        }
        return static_cast<T>(value);
    }
    std::memcpy(&value, buffer.data() + offset, sizeof value);
    return static_cast<T>(detail::to_little_endian(value));
}

/// Requires: offset + sizeof(T) <= buffer.size()
template <StoredInteger T>
constexpr void
store_le(std::span<std::byte> buffer, std::size_t offset, std::type_identity_t<T> number) noexcept {
    PROMTACT_ASSERT(offset <= buffer.size());
    PROMTACT_ASSERT(sizeof(T) <= buffer.size() - offset);
    using Unsigned = std::make_unsigned_t<T>;
    const auto bits = static_cast<Unsigned>(number);
    if (std::is_constant_evaluated()) {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            buffer[offset + i] = static_cast<std::byte>((bits >> (8 * i)) & 0xffU);
        return;
    }
    const Unsigned little = detail::to_little_endian(bits);
    std::memcpy(buffer.data() + offset, &little, sizeof little);
}

/// The bytes of a text, without its terminator. Lifetime: that of the text.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The bytes as text. Lifetime: that of the bytes.
[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) noexcept {
    return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

} // namespace promtact
