// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>
#include <promtact/base/choice.h>
#include <promtact/base/crc32c.hpp>

namespace promtact {
namespace {

std::vector<std::byte> random_bytes(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(promtact_mix64(i) & 0xffU);
    return bytes;
}

// RFC 3720 appendix B.4, written as numbers (the RFC prints the bytes as transmitted).
TEST(Crc32c, Rfc3720Vectors) {
    std::array<std::byte, 32> bytes{};
    EXPECT_EQ(crc32c(bytes), 0x8A9136AAU);
    bytes.fill(std::byte{0xff});
    EXPECT_EQ(crc32c(bytes), 0x62A8AB43U);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i);
    EXPECT_EQ(crc32c(bytes), 0x46DD794EU);
    std::reverse(bytes.begin(), bytes.end());
    EXPECT_EQ(crc32c(bytes), 0x113FDB5CU);
}

TEST(Crc32c, Rfc3720ReadCommandVector) {
    constexpr std::array<std::uint8_t, 48> command{
        0x01, 0xc0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
        0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
        0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};

    EXPECT_EQ(crc32c(std::as_bytes(std::span(command))), 0xD9963A56U);
}

TEST(Crc32c, TheCheckValueAndTheEmptyInput) {
    EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
    EXPECT_EQ(crc32c_extend_table(0, bytes_of("123456789")), 0xE3069283U);
    EXPECT_EQ(crc32c({}), 0U);
    EXPECT_EQ(crc32c_extend_table(0, {}), 0U);
}

TEST(Crc32c, BothVersionsAgreeOnEveryLengthAndOffset) {
    const std::vector<std::byte> bytes = random_bytes(400);
    for (std::size_t length = 0; length <= 300; ++length) {
        for (std::size_t offset = 0; offset < 16; ++offset) {
            const std::span<const std::byte> part = std::span(bytes).subspan(offset, length);
            ASSERT_EQ(crc32c(part), crc32c_extend_table(0, part)) << length << " at " << offset;
        }
    }
}

TEST(Crc32c, ExtendingEqualsTheWholeAtEverySplit) {
    const std::vector<std::byte> bytes = random_bytes(100);
    const std::span<const std::byte> all(bytes);
    for (std::size_t split = 0; split <= bytes.size(); ++split) {
        EXPECT_EQ(crc32c_extend(crc32c(all.first(split)), all.subspan(split)), crc32c(all));
        EXPECT_EQ(crc32c_extend_table(crc32c(all.first(split)), all.subspan(split)), crc32c(all));
    }
}

TEST(Crc32c, EveryFlippedBitIsNoticed) {
    std::vector<std::byte> bytes = random_bytes(112);
    const std::uint32_t good = crc32c(bytes);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_NE(crc32c(bytes), good) << bit;
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
}

} // namespace
} // namespace promtact
