// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>

#include <gtest/gtest.h>

#include <promtact/gates/format.hpp>

namespace promtact::gates {
namespace {

TEST(Format, GroupsByThousands) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Format, ShowsThreeDigitsOfADuration) {
    EXPECT_EQ(duration_text(0), "0 ns");
    EXPECT_EQ(duration_text(999), "999 ns");
    EXPECT_EQ(duration_text(1000), "1.00 µs");
    EXPECT_EQ(duration_text(17'749), "17.7 µs");
    EXPECT_EQ(duration_text(17'750), "17.8 µs");
    EXPECT_EQ(duration_text(999'499), "999 µs");
    EXPECT_EQ(duration_text(999'500), "1.00 ms");
    EXPECT_EQ(duration_text(412'345'678), "412 ms");
    EXPECT_EQ(duration_text(999'999'999), "1.00 s");
    EXPECT_EQ(duration_text(9'994'999'999), "9.99 s");
    EXPECT_EQ(duration_text(UINT64_MAX), "18,446,744,073 s");
}

TEST(Format, ShowsUnits) {
    EXPECT_EQ(value_text(4096, "bytes"), "4,096 bytes");
    EXPECT_EQ(value_text(7170, "operations_per_second"), "7,170 operations/s");
    EXPECT_EQ(value_text(100'000, "ppm"), "10.00 %");
    EXPECT_EQ(value_text(5, "count"), "5");
    EXPECT_EQ(value_text(5, "lost_packets"), "5 lost packets");
}

TEST(Format, RoundsRatiosWithoutOverflow) {
    EXPECT_EQ(ratio_text(1, 3), "0.333");
    EXPECT_EQ(ratio_text(2, 3), "0.667");
    EXPECT_EQ(ratio_text(9995, 10000), "1.000");
    EXPECT_EQ(ratio_text(9994, 10000), "0.999");
    EXPECT_EQ(ratio_text(5, 2), "2.500");
    EXPECT_EQ(ratio_text(UINT64_MAX, UINT64_MAX), "1.000");
    EXPECT_EQ(ratio_text(UINT64_MAX / 2, UINT64_MAX), "0.500");
    EXPECT_EQ(ratio_text(1, 0), "n/a");
}

} // namespace
} // namespace promtact::gates
