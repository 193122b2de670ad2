// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <limits>

#include <gtest/gtest.h>

#include <promtact/base/units.hpp>

namespace promtact {
namespace {

constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();

TEST(Units, LiteralsScale) {
    static_assert(4_KiB == 4096_B);
    static_assert(2_MiB == 2048_KiB);
    static_assert(1_GiB / 1_MiB == 1024);
    static_assert((3_ticks + 4_ticks).value == 7);
    static_assert((20_permille).to_ppm() == 20'000_ppm);
}

TEST(Units, RoundUpReachesTheNextMultipleOnly) {
    EXPECT_EQ(round_up(0_B, 4_KiB), 0_B);
    EXPECT_EQ(round_up(1_B, 4_KiB), 4096_B);
    EXPECT_EQ(round_up(4096_B, 4_KiB), 4096_B);
    EXPECT_EQ(round_up(4097_B, 4_KiB), 8192_B);
}

TEST(Units, OverflowAndNegativeSizesAbort) {
    EXPECT_DEATH(static_cast<void>(Bytes{max} + 1_B), "assertion failed");
    EXPECT_DEATH(static_cast<void>(1_B - 2_B), "assertion failed");
    EXPECT_DEATH(static_cast<void>(Bytes{max / 2} * 3), "assertion failed");
    EXPECT_DEATH(static_cast<void>(1_B / 0_B), "assertion failed");
    EXPECT_DEATH(static_cast<void>(round_up(Bytes{max}, 4_KiB)), "assertion failed");
    EXPECT_DEATH(static_cast<void>(Ticks{max} + 1_ticks), "assertion failed");
    EXPECT_EQ((Bytes{max} - 1_B).value, max - 1);
}

TEST(Units, AProbabilityAboveOneAborts) {
    EXPECT_DEATH(static_cast<void>(Ppm(1'000'001)), "assertion failed: parts <= one");
    EXPECT_DEATH(static_cast<void>(Permille(1'001)), "assertion failed: parts <= one");
    EXPECT_EQ(Permille(1'000).to_ppm().value, Ppm::one);
}

} // namespace
} // namespace promtact
