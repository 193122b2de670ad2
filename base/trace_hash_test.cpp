// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <gtest/gtest.h>

#include <promtact/base/trace_hash.hpp>

namespace promtact {
namespace {

// Computed apart from TraceHash, by the library version of xxHash over bytes laid out by hand.
TEST(TraceHash, GoldenVectorsHold) {
    EXPECT_EQ(to_hex(digest128({})), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(to_hex(digest128(bytes_of("promtact"))), "19b3e74d87404909c213c9e2048dbdd9");

    TraceHash hash;
    EXPECT_EQ(hash.value(), Digest128{});
    hash.add(std::array<std::uint64_t, 4>{1, 2, 3, 0x4A2C});
    EXPECT_EQ(to_hex(hash.value()), "b61ac1ede993f416baba963ad4471501");
    hash.add(std::array<std::uint64_t, 0>{});
    EXPECT_EQ(to_hex(hash.value()), "99b07cc113f583244d63a808801c13de");
    hash.add(bytes_of("payload"));
    EXPECT_EQ(to_hex(hash.value()), "00f4f6413cb879463e44cbe57afdab1e");
}

TEST(TraceHash, ResumesFromARecordedValue) {
    TraceHash whole;
    whole.add(std::array<std::uint64_t, 1>{1});
    TraceHash rest(whole.value());
    whole.add(std::array<std::uint64_t, 1>{2});

    rest.add(std::array<std::uint64_t, 1>{2});

    EXPECT_EQ(whole.value(), rest.value());
}

TEST(TraceHash, TellsOrderGroupingAndKindApart) {
    const auto hash_of = [](auto... events) {
        TraceHash hash;
        (hash.add(events), ...);
        return hash.value();
    };
    using One = std::array<std::uint64_t, 1>;
    using Two = std::array<std::uint64_t, 2>;
    std::array<std::byte, 8> one_as_bytes{};
    store_le<std::uint64_t>(one_as_bytes, 0, 1);

    EXPECT_NE(hash_of(One{1}, One{2}), hash_of(One{2}, One{1}));
    EXPECT_NE(hash_of(One{1}, One{2}), hash_of(Two{1, 2}));
    EXPECT_NE(hash_of(One{1}), hash_of(std::span<const std::byte>(one_as_bytes)));
    EXPECT_NE(hash_of(One{0}), Digest128{});
    EXPECT_EQ(hash_of(One{1}, One{2}), hash_of(One{1}, One{2}));
}

TEST(TraceHash, EveryBitOfAnEventCounts) {
    TraceHash plain;
    plain.add(std::array<std::uint64_t, 2>{5, 6});
    for (std::size_t bit = 0; bit < 128; ++bit) {
        std::array<std::uint64_t, 2> words{5, 6};
        words[bit / 64] ^= std::uint64_t{1} << (bit % 64);
        TraceHash changed;
        changed.add(words);
        EXPECT_NE(changed.value(), plain.value()) << bit;
    }
}

TEST(TraceHash, DigestsRoundTripAsText) {
    const Digest128 digest{.high = 0x0123456789abcdefULL, .low = 0xfedcba9876543210ULL};

    EXPECT_EQ(to_hex(digest), "0123456789abcdeffedcba9876543210");
    EXPECT_EQ(*parse_digest128("0123456789ABCDEFfedcba9876543210"), digest);
    EXPECT_FALSE(parse_digest128(""));
    EXPECT_FALSE(parse_digest128("0123456789abcdeffedcba987654321"));
    EXPECT_FALSE(parse_digest128("0123456789abcdeffedcba98765432100"));
    EXPECT_FALSE(parse_digest128("0123456789abcdeffedcba987654321g"));
}

} // namespace
} // namespace promtact
