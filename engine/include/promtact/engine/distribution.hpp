// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// How delays are spread: tables of quantiles in integers, so that every host and the kernel draw
// the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <promtact/base/assert.hpp>

namespace promtact::engine {

/// Quantiles at the middles of 128 equal steps of probability, in thousandths of a standard
/// deviation.
inline constexpr std::array<std::int32_t, 128> normal_quantiles{
    -2660, -2266, -2064, -1921, -1810, -1717, -1637, -1567, -1503, -1445, -1392, -1342, -1295,
    -1251, -1209, -1170, -1132, -1095, -1060, -1026, -994,  -962,  -932,  -902,  -873,  -844,
    -817,  -790,  -763,  -737,  -712,  -687,  -662,  -638,  -614,  -591,  -568,  -545,  -522,
    -500,  -478,  -456,  -434,  -413,  -392,  -371,  -350,  -329,  -308,  -288,  -268,  -247,
    -227,  -207,  -187,  -167,  -147,  -128,  -108,  -88,   -69,   -49,   -29,   -10,   10,
    29,    49,    69,    88,    108,   128,   147,   167,   187,   207,   227,   247,   268,
    288,   308,   329,   350,   371,   392,   413,   434,   456,   478,   500,   522,   545,
    568,   591,   614,   638,   662,   687,   712,   737,   763,   790,   817,   844,   873,
    902,   932,   962,   994,   1026,  1060,  1095,  1132,  1170,  1209,  1251,  1295,  1342,
    1392,  1445,  1503,  1567,  1637,  1717,  1810,  1921,  2064,  2266,  2660,
};

/// Pareto with alpha = 3, mean 0 and standard deviation 1: most are early, few are very late.
inline constexpr std::array<std::int32_t, 128> pareto_quantiles{
    -576, -573, -570, -567, -563, -560, -557, -554, -551, -547, -544, -541, -537, -534, -530, -527,
    -523, -519, -516, -512, -508, -504, -500, -497, -493, -489, -485, -480, -476, -472, -468, -463,
    -459, -454, -450, -445, -441, -436, -431, -426, -421, -416, -411, -406, -401, -395, -390, -384,
    -379, -373, -367, -361, -355, -349, -343, -336, -330, -323, -317, -310, -303, -296, -288, -281,
    -273, -266, -258, -250, -241, -233, -224, -216, -206, -197, -188, -178, -168, -158, -147, -136,
    -125, -114, -102, -90,  -77,  -65,  -51,  -38,  -23,  -9,   7,    22,   39,   56,   73,   91,
    111,  130,  151,  173,  196,  220,  245,  272,  300,  329,  361,  394,  430,  468,  509,  554,
    602,  654,  712,  775,  846,  925,  1016, 1119, 1241, 1386, 1565, 1793, 2101, 2556, 3352, 5600,
};

/// base + jitter * quantile, never below 0.
inline std::uint64_t spread(
    std::uint64_t base, std::uint64_t jitter, std::span<const std::int32_t, 128> quantiles,
    std::uint64_t bits) noexcept {
    const std::int64_t factor = quantiles[static_cast<std::size_t>(bits >> 57)];
    const std::uint64_t size = static_cast<std::uint64_t>(factor < 0 ? -factor : factor);
    PROMTACT_ASSERT(jitter <= ~std::uint64_t{0} / 100'000);
    const std::uint64_t away = (jitter * size + 500) / 1000;
    if (factor < 0) return base > away ? base - away : 0;
    return base + away;
}

/// A measured distribution: one of the values at equal steps of probability.
inline std::uint64_t draw(std::span<const std::uint64_t> quantiles, std::uint64_t bits) noexcept {
    PROMTACT_ASSERT(!quantiles.empty());
    const std::uint64_t index = (bits >> 32) * quantiles.size() >> 32;
    return quantiles[static_cast<std::size_t>(index)];
}

} // namespace promtact::engine
