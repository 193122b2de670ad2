// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/histogram.hpp>

namespace promtact {
namespace {

TEST(Histogram, NearestRankPercentilesOfSmallValuesAreExact) {
    Histogram histogram;
    for (std::uint64_t v = 1; v <= 100; ++v)
        histogram.record(v);

    EXPECT_EQ(histogram.count(), 100U);
    EXPECT_EQ(histogram.p50(), 50U);
    EXPECT_EQ(histogram.p99(), 99U);
    EXPECT_EQ(histogram.p999(), 100U);
    EXPECT_EQ(histogram.percentile_ppm(0), 1U);
}

TEST(Histogram, RelativeErrorStaysBelowOnePartIn128) {
    for (std::uint64_t v = 1; v < (std::uint64_t{1} << 62); v = v * 3 + 1) {
        Histogram histogram;
        histogram.record(0);
        histogram.record(v);
        histogram.record(std::uint64_t{1} << 62);

        const std::uint64_t p50 = histogram.p50();

        EXPECT_GE(p50, v);
        EXPECT_LE(p50 - v, v / 128);
    }
}

TEST(Histogram, ExtremesAreExactAndEmptyIsZero) {
    Histogram histogram;
    EXPECT_EQ(histogram.min(), 0U);
    EXPECT_EQ(histogram.p99(), 0U);
    histogram.record(1'000'003);
    EXPECT_EQ(histogram.min(), 1'000'003U);
    EXPECT_EQ(histogram.max(), 1'000'003U);
    EXPECT_EQ(histogram.p50(), 1'000'003U);
}

TEST(Histogram, BucketsRoundTrip) {
    Histogram histogram;
    for (std::uint64_t v : {3ULL, 3ULL, 255ULL, 256ULL, 70'000ULL, 1ULL << 40})
        histogram.record(v);

    const auto again =
        Histogram::from_buckets(histogram.buckets(), histogram.min(), histogram.max());

    ASSERT_TRUE(again);
    EXPECT_EQ(again->buckets(), histogram.buckets());
    EXPECT_EQ(again->p90(), histogram.p90());
}

TEST(Histogram, FromBucketsRefusesForeignEdgesAndDisagreeingExtremes) {
    EXPECT_FALSE(Histogram::from_buckets({{.low = 257, .high = 257, .count = 1}}, 257, 257));
    EXPECT_FALSE(Histogram::from_buckets({{.low = 5, .high = 5, .count = 0}}, 5, 5));
    EXPECT_FALSE(Histogram::from_buckets({{.low = 5, .high = 5, .count = 1}}, 4, 5));
    EXPECT_FALSE(Histogram::from_buckets({{5, 5, 1}, {5, 5, 1}}, 5, 5));
    for (const std::uint64_t low : {std::uint64_t{1} << 63, ~std::uint64_t{0}})
        EXPECT_FALSE(Histogram::from_buckets({{low, low, 1}}, low, low));
}

TEST(Histogram, MergeEqualsRecordingEverythingInOne) {
    Histogram one;
    Histogram left;
    Histogram right;
    for (std::uint64_t v = 0; v < 5000; v += 7) {
        one.record(v);
        (v % 2 == 0 ? left : right).record(v);
    }

    left.merge(right);

    EXPECT_EQ(left.buckets(), one.buckets());
    EXPECT_EQ(left.max(), one.max());
}

} // namespace
} // namespace promtact
