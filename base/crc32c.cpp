// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <promtact/base/bytes.hpp>
#include <promtact/base/crc32c.hpp>

#ifdef PROMTACT_HAVE_ISAL
#include <isa-l/crc.h>
#endif

namespace promtact {
namespace {

constexpr std::uint32_t polynomial_reflected = 0x82F63B78U;

// tables[k][b]: the checksum of byte b followed by k zero bytes, so that eight bytes are folded at
// once ("slicing by eight").
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() noexcept {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1U) != 0 ? polynomial_reflected : 0);
        tables[0][byte] = crc;
    }
    for (std::size_t k = 1; k < tables.size(); ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][before & 0xffU];
        }
    }
    return tables;
}

constexpr Tables tables = make_tables();
static_assert(tables[0][1] == 0xF26B8303U);
static_assert(tables[0][0] == 0);
static_assert(tables[7][0] == 0);

} // namespace

std::uint32_t crc32c_extend_table(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
    std::uint32_t state = ~crc;
    while (bytes.size() >= 8) {
        const std::uint64_t word = load_le<std::uint64_t>(bytes, 0) ^ state;
        state = 0;
        for (std::size_t i = 0; i < 8; ++i)
            state ^= tables[7 - i][(word >> (8 * i)) & 0xffU];
        bytes = bytes.subspan(8);
    }
    for (const std::byte byte : bytes)
        state = (state >> 8) ^ tables[0][(state ^ std::to_integer<std::uint32_t>(byte)) & 0xffU];
    return ~state;
}

#ifdef PROMTACT_HAVE_ISAL

namespace {

// The AVX-512 version of ISA-L 2.30 returns with the upper halves of the vector registers in use,
// and SSE code (XXH3, memcpy of the compiler) then runs at a quarter of its speed until somebody
// clears them: 36 instead of 10 us for XXH3 over 132 KiB.
void clear_upper_halves() noexcept {
#if defined(__x86_64__)
    static const bool present = __builtin_cpu_supports("avx") != 0;
    if (present) asm volatile("vzeroupper" ::: "memory");
#endif
}

} // namespace

std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t piece_max = std::size_t{1} << 30; // crc32_iscsi counts in int
    static_assert(piece_max <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
    std::uint32_t state = ~crc;
    while (!bytes.empty()) {
        const std::size_t piece = std::min(bytes.size(), piece_max);
        // crc32_iscsi only reads, but its prototype lacks the const.
        auto* data = const_cast<std::byte*>(bytes.data());
        state = ::crc32_iscsi(
            static_cast<unsigned char*>(static_cast<void*>(data)), static_cast<int>(piece), state);
        bytes = bytes.subspan(piece);
    }
    clear_upper_halves();
    return ~state;
}

bool crc32c_is_accelerated() noexcept {
    return true;
}

#else

std::uint32_t crc32c_extend(std::uint32_t crc, std::span<const std::byte> bytes) noexcept {
    return crc32c_extend_table(crc, bytes);
}

bool crc32c_is_accelerated() noexcept {
    return false;
}

#endif

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
    return crc32c_extend(0, bytes);
}

} // namespace promtact
