// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The hash of a run: every event is chained into 128 bits, and equal hashes mean equal runs. The
// value does not depend on the byte order or word size of the host.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/result.hpp>

namespace promtact {

/// 128 bits of XXH3. Not cryptographic: it finds differences, it does not resist an adversary.
struct Digest128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend constexpr auto operator<=>(const Digest128&, const Digest128&) = default;
};

/// XXH3-128 of the bytes, seed 0. Source: xxHash 0.8, the same value on every platform.
inline Digest128 digest128(std::span<const std::byte> bytes) noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {.high = hash.high64, .low = hash.low64};
}

/// The same of a length that the compiler knows. Inlined whole: a run spends much of its time here,
/// and what was just written is hashed out of registers.
template <std::size_t N>
[[gnu::flatten]] inline Digest128 digest128(const std::array<std::byte, N>& bytes) noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), N);
    return {.high = hash.high64, .low = hash.low64};
}

/// 32 lower-case hexadecimal digits, most significant first.
inline std::string to_hex(const Digest128& digest) {
    std::string text(32, '0');
    for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t shift = 60 - 4 * i;
        text[i] = "0123456789abcdef"[(digest.high >> shift) & 0xfU];
        text[16 + i] = "0123456789abcdef"[(digest.low >> shift) & 0xfU];
    }
    return text;
}

/// Errors: invalid_argument unless text is exactly 32 hexadecimal digits.
inline Result<Digest128> parse_digest128(std::string_view text) {
    std::array<std::uint64_t, 2> half{};
    bool good = text.size() == 32;
    for (std::size_t i = 0; good && i < text.size(); ++i) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        good = digit >= 0;
        half[i / 16] = half[i / 16] << 4 | static_cast<std::uint64_t>(digit & 0xf);
    }
    if (!good) {
        return Error{
            Errc::invalid_argument, 0,
            "\"" + std::string(text.substr(0, 40)) + "\" is not 32 hexadecimal digits"};
    }
    return Digest128{.high = half[0], .low = half[1]};
}

/// The running hash of a trace, all zero before the first event.
/// Shape: next = XXH3-128 of [previous low | previous high | tag | words], all u64 little-endian,
/// where tag is the number of words, and 2^64-1 for a byte string, whose words are its length and
/// its own digest (low, high).
class TraceHash {
  public:
    TraceHash() = default;
    /// Goes on from a recorded value.
    explicit TraceHash(const Digest128& resume) noexcept : state_(resume) {}

    /// Chains one event of N words: hash.add({{step, from, to, digest}}).
    template <std::size_t N>
    void add(const std::array<std::uint64_t, N>& words) noexcept {
        chain<N>(N, words);
    }
    /// Chains one byte string of any length.
    void add(std::span<const std::byte> bytes) noexcept {
        const Digest128 digest = digest128(bytes);
        chain<3>(~std::uint64_t{0}, {{bytes.size(), digest.low, digest.high}});
    }

    [[nodiscard]] const Digest128& value() const noexcept { return state_; }

  private:
    template <std::size_t N>
    [[gnu::always_inline]] void
    chain(std::uint64_t tag, const std::array<std::uint64_t, N>& words) noexcept {
        static_assert(N <= 64);
        std::array<std::byte, 8 * (N + 3)> buffer{};
        store_le<std::uint64_t>(buffer, 0, state_.low);
        store_le<std::uint64_t>(buffer, 8, state_.high);
        store_le<std::uint64_t>(buffer, 16, tag);
        for (std::size_t i = 0; i < N; ++i)
            store_le<std::uint64_t>(buffer, 24 + 8 * i, words[i]);
        state_ = digest128(buffer);
    }

    Digest128 state_{};
};

} // namespace promtact
