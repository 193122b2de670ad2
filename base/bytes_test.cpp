// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <limits>

#include <gtest/gtest.h>

#include <promtact/base/bytes.hpp>

namespace promtact {
namespace {

constexpr std::array<std::byte, 9> counting() {
    std::array<std::byte, 9> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i + 1);
    return bytes;
}

template <class T>
void round_trip(T value) {
    std::array<std::byte, 11> buffer{};
    store_le<T>(buffer, 3, value);
    EXPECT_EQ(load_le<T>(buffer, 3), value);
    EXPECT_EQ(buffer[2], std::byte{0}) << "wrote before the field";
    if constexpr (sizeof(T) < 8) {
        EXPECT_EQ(buffer[3 + sizeof(T)], std::byte{0}) << "wrote behind the field";
    }
}

TEST(Bytes, LowestByteComesFirst) {
    constexpr std::array<std::byte, 9> bytes = counting();

    EXPECT_EQ(load_le<std::uint8_t>(bytes, 0), 0x01U);
    EXPECT_EQ(load_le<std::uint16_t>(bytes, 0), 0x0201U);
    EXPECT_EQ(load_le<std::uint32_t>(bytes, 1), 0x05040302U);
    EXPECT_EQ(load_le<std::uint64_t>(bytes, 1), 0x0908070605040302U);
}

TEST(Bytes, CompileTimeAndRunTimeAgree) {
    constexpr std::array<std::byte, 9> bytes = counting();
    constexpr auto at_compile_time = load_le<std::uint64_t>(bytes, 1);
    constexpr std::array<std::byte, 4> stored = [] {
        std::array<std::byte, 4> buffer{};
        store_le<std::uint32_t>(buffer, 0, 0xA1B2C3D4U);
        return buffer;
    }();
    std::array<std::byte, 4> again{};

    store_le<std::uint32_t>(again, 0, 0xA1B2C3D4U);

    EXPECT_EQ(at_compile_time, load_le<std::uint64_t>(bytes, 1));
    EXPECT_EQ(stored, again);
    EXPECT_EQ(stored[0], std::byte{0xD4});
}

TEST(Bytes, EveryWidthAndSignRoundTripsAtItsLimits) {
    round_trip<std::uint8_t>(0xff);
    round_trip<std::int8_t>(std::numeric_limits<std::int8_t>::min());
    round_trip<std::uint16_t>(0xfffe);
    round_trip<std::int16_t>(-2);
    round_trip<std::uint32_t>(0x80000001U);
    round_trip<std::int32_t>(std::numeric_limits<std::int32_t>::min());
    round_trip<std::uint64_t>(std::numeric_limits<std::uint64_t>::max());
    round_trip<std::int64_t>(-1);
}

TEST(Bytes, CrossingTheEndAborts) {
    std::array<std::byte, 8> buffer{};

    EXPECT_DEATH(static_cast<void>(load_le<std::uint32_t>(buffer, 5)), "assertion failed");
    EXPECT_DEATH(static_cast<void>(load_le<std::uint8_t>(buffer, 9)), "assertion failed");
    EXPECT_DEATH(
        static_cast<void>(load_le<std::uint64_t>(buffer, ~std::size_t{0})), "assertion failed");
    EXPECT_DEATH(store_le<std::uint64_t>(buffer, 1, 0), "assertion failed");
    store_le<std::uint32_t>(buffer, 4, 1);
    EXPECT_EQ(load_le<std::uint32_t>(buffer, 4), 1U);
}

TEST(Bytes, TextAndBytesAreViewsOfEachOther) {
    constexpr std::string_view text = "abc";

    EXPECT_EQ(bytes_of(text).size(), 3U);
    EXPECT_EQ(text_of(bytes_of(text)), text);
}

} // namespace
} // namespace promtact
