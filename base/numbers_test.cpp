// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/base/numbers.hpp>

namespace promtact {
namespace {

constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();

struct SeedRow {
    std::string text{};
    std::optional<std::uint64_t> seed{};
};

TEST(Numbers, SeedsInEveryFormOfTheReference) {
    const std::array rows{
        SeedRow{"0", 0},
        SeedRow{"0x4A2C", 0x4A2C},
        SeedRow{"0X4a2c", 0x4A2C},
        SeedRow{"0o17", 15},
        SeedRow{"0755", 0755},
        SeedRow{"0_7", 7},
        SeedRow{"0b1011", 11},
        SeedRow{"1_000_000", 1'000'000},
        SeedRow{"0x_4A_2C", 0x4A2C},
        SeedRow{" \t\n42\r\n", 42},
        SeedRow{"+7", 7},
        SeedRow{"-1", max},
        SeedRow{"-0x10", max - 15},
        SeedRow{"-9223372036854775808", std::uint64_t{1} << 63},
        SeedRow{"9223372036854775808", std::uint64_t{1} << 63},
        SeedRow{"18446744073709551615", max},
        SeedRow{"0xffffffffffffffff", max},
        SeedRow{"18446744073709551616", {}},
        SeedRow{"0x10000000000000000", {}},
        SeedRow{"-9223372036854775809", {}},
        SeedRow{"", {}},
        SeedRow{"   ", {}},
        SeedRow{"-", {}},
        SeedRow{"--1", {}},
        SeedRow{"- 1", {}},
        SeedRow{"1 2", {}},
        SeedRow{"0x", {}},
        SeedRow{"0x_", {}},
        SeedRow{"_1", {}},
        SeedRow{"1_", {}},
        SeedRow{"1__2", {}},
        SeedRow{"0b12", {}},
        SeedRow{"08", {}},
        SeedRow{"4A2C", {}},
        SeedRow{"1.5", {}},
        SeedRow{"1e3", {}},
        SeedRow{"seed", {}},
        SeedRow{std::string("1\0002", 3), {}},
    };
    for (const SeedRow& row : rows) {
        const Result<std::uint64_t> seed = parse_seed(row.text);
        EXPECT_EQ(seed.has_value(), row.seed.has_value()) << '"' << row.text << '"';
        if (seed && row.seed) {
            EXPECT_EQ(*seed, *row.seed) << row.text;
        }
    }
}

TEST(Numbers, CountsRefuseSignsAndAmbiguousZeros) {
    EXPECT_EQ(*parse_u64("0x10"), 16U);
    EXPECT_EQ(*parse_u64("1_024"), 1024U);
    EXPECT_EQ(*parse_u64("0"), 0U);
    EXPECT_FALSE(parse_u64("-1"));
    EXPECT_FALSE(parse_u64("+1"));
    ASSERT_FALSE(parse_u64("010"));
    EXPECT_EQ(
        parse_u64("010").error().context,
        "\"010\" has a leading zero: write 0o for octal, or drop the zero");
}

TEST(Numbers, OverflowIsOutOfRangeAndNonsenseIsInvalid) {
    EXPECT_EQ(parse_u64("18446744073709551616").error().code, Errc::out_of_range);
    EXPECT_EQ(parse_u64(std::string(400, '9')).error().code, Errc::out_of_range);
    EXPECT_EQ(parse_u64("99999999999999999999x").error().code, Errc::invalid_argument);
    EXPECT_EQ(parse_u64("x").error().code, Errc::invalid_argument);
}

TEST(Numbers, MessagesQuoteAtMostAGlanceOfTheInput) {
    std::string endless(5000, 'z');
    endless.append("\x1b[31m");
    const std::string context = parse_u64(endless).error().context;

    EXPECT_LT(context.size(), 200U);
    EXPECT_EQ(parse_u64("\x1b[31m").error().context.find('\x1b'), std::string::npos);
}

TEST(Numbers, SeedsRoundTripThroughTheirForm) {
    EXPECT_EQ(format_seed(0x4A2C), "0x4A2C");
    EXPECT_EQ(format_seed(0), "0x0");
    EXPECT_EQ(format_seed(max), "0xFFFFFFFFFFFFFFFF");
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::uint64_t seed = promtact_mix64(i) >> (i % 64);
        EXPECT_EQ(*parse_seed(format_seed(seed)), seed);
        EXPECT_EQ(*parse_u64(std::to_string(seed)), seed);
    }
}

struct SizeRow {
    std::string_view text{};
    std::optional<std::uint64_t> bytes{};
};

TEST(Numbers, Sizes) {
    constexpr std::array rows{
        SizeRow{"4096", 4096},
        SizeRow{"4096B", 4096},
        SizeRow{"4KiB", 4096},
        SizeRow{"4 KiB", 4096},
        SizeRow{"1GiB", 1ULL << 30},
        SizeRow{"16TiB", 16ULL << 40},
        SizeRow{"500MB", 500'000'000},
        SizeRow{"2kB", 2000},
        SizeRow{"3TB", 3'000'000'000'000},
        SizeRow{"0x1000", 4096},
        SizeRow{"0", 0},
        SizeRow{"18446744073709551615", max},
        SizeRow{"16777216TiB", {}},
        SizeRow{"4k", {}},
        SizeRow{"4K", {}},
        SizeRow{"1G", {}},
        SizeRow{"4KB", {}},
        SizeRow{"1.5GiB", {}},
        SizeRow{"-1", {}},
        SizeRow{"KiB", {}},
        SizeRow{"", {}},
        SizeRow{"4KiB4", {}},
        SizeRow{"0x", {}},
        SizeRow{"0x1000KiB", {}},
    };
    for (const SizeRow& row : rows) {
        const Result<Bytes> size = parse_size(row.text);
        EXPECT_EQ(size.has_value(), row.bytes.has_value()) << row.text;
        if (size && row.bytes) {
            EXPECT_EQ(size->value, *row.bytes) << row.text;
        }
    }
}

TEST(Numbers, SizesRoundTripExactly) {
    EXPECT_EQ(format_size(4_KiB), "4KiB");
    EXPECT_EQ(format_size(4097_B), "4097B");
    EXPECT_EQ(format_size(0_B), "0B");
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const Bytes size{promtact_mix64(i) >> (i % 64) << (i % 32)};
        EXPECT_EQ(*parse_size(format_size(size)), size);
    }
}

} // namespace
} // namespace promtact
