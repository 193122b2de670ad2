// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// Fixed seeds, so these never fluctuate: they pin that the frozen function is good enough to stand
// in for chance, each with a control that a bad function would fail.
#include <array>
#include <bit>
#include <cstdlib>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>

namespace promtact {
namespace {

constexpr std::uint64_t draws = 1'000'000;
constexpr std::uint64_t seed = 0x4A2C;

/// Squared deviation of hits from the mean in units of the variance, times 1000 (one degree of
/// freedom: above 10828 has probability below 0.001).
std::uint64_t chi_square_milli(std::uint64_t hits, std::uint64_t n, std::uint64_t ppm) {
    const auto mean = static_cast<std::int64_t>(n / 1'000'000 * ppm);
    const std::int64_t off = static_cast<std::int64_t>(hits) - mean;
    const std::uint64_t variance = n / 1'000'000 * ppm * (1'000'000 - ppm) / 1'000'000;
    return static_cast<std::uint64_t>(off * off) * 1000 / variance;
}

template <class Draw>
std::uint64_t count_hits(Draw draw) {
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < draws; ++i)
        hits += draw(i) ? 1 : 0;
    return hits;
}

TEST(ChoiceStatistics, ChanceMeetsItsProbability) {
    for (const std::uint32_t ppm : {10'000U, 100'000U, 500'000U}) {
        for (const std::uint64_t link : {promtact_link(1, 2), promtact_link(2, 1)}) {
            const ChoiceStream stream(seed, Purpose::loss, link);
            const std::uint64_t hits = count_hits(
                [&](std::uint64_t i) { return stream.chance(ChoicePosition::index(i), Ppm(ppm)); });
            EXPECT_LT(chi_square_milli(hits, draws, ppm), 10'828U) << ppm << " ppm: " << hits;
        }
    }
    // Control: half a percent off in a million draws is noticed.
    EXPECT_GT(chi_square_milli(105'000, draws, 100'000), 10'828U);
}

TEST(ChoiceStatistics, ChanceMeetsItsProbabilityOnTimePositions) {
    const ChoiceStream stream(seed, Purpose::loss, promtact_link(1, 2));
    const std::uint64_t hits = count_hits([&](std::uint64_t i) {
        return stream.chance(
            ChoicePosition::at(i / 4, static_cast<std::uint32_t>(i % 4)), 100'000_ppm);
    });
    EXPECT_LT(chi_square_milli(hits, draws, 100'000), 10'828U) << hits;
}

struct Quadruple {
    std::uint64_t seed = 0;
    std::uint64_t purpose = 0;
    std::uint64_t link = 0;
    std::uint64_t position = 0;
};

std::uint64_t choose(const Quadruple& q) {
    return promtact_choose(q.seed, static_cast<std::uint32_t>(q.purpose), q.link, q.position);
}

/// Output bits that change, on average per thousand trials, when one input bit flips.
std::uint64_t avalanche(std::uint64_t Quadruple::*field, unsigned bit) {
    std::uint64_t changed = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        Quadruple q{
            .seed = seed + i, .purpose = 1 + i % 9, .link = promtact_mix64(i), .position = i};
        const std::uint64_t before = choose(q);
        q.*field ^= std::uint64_t{1} << bit;
        changed += static_cast<std::uint64_t>(std::popcount(before ^ choose(q)));
    }
    return changed;
}

TEST(ChoiceStatistics, EveryInputBitFlipsHalfOfTheOutput) {
    // 64 bits, half of them, in 1000 trials: 32,000 with a standard deviation of 126.
    for (const auto field :
         {&Quadruple::seed, &Quadruple::purpose, &Quadruple::link, &Quadruple::position}) {
        const unsigned bits = field == &Quadruple::purpose ? 32 : 64;
        for (unsigned bit = 0; bit < bits; ++bit) {
            EXPECT_GT(avalanche(field, bit), 31'300U) << "bit " << bit;
            EXPECT_LT(avalanche(field, bit), 32'700U) << "bit " << bit;
        }
    }
}

/// Agreements of two streams of coins that should be independent: 500,000 +- 500 (one sigma).
std::uint64_t agreements(const Quadruple& a, const Quadruple& b) {
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < draws; ++i) {
        Quadruple left = a;
        Quadruple right = b;
        left.position += i;
        right.position += i;
        same += (choose(left) ^ choose(right)) >> 63 == 0 ? 1 : 0;
    }
    return same;
}

TEST(ChoiceStatistics, NeighbouringStreamsAreIndependent) {
    const Quadruple base{.seed = seed, .purpose = 1, .link = promtact_link(1, 2), .position = 0};
    const std::array<Quadruple, 7> others{{
        {seed + 1, 1, base.link, 0},
        {seed ^ (std::uint64_t{1} << 63), 1, base.link, 0},
        {seed, 2, base.link, 0},
        {seed, 256, base.link, 0},
        {seed, 1, promtact_link(2, 1), 0},
        {seed, 1, promtact_link(1, 3), 0},
        {seed, 1, base.link, 1},
    }};
    for (const Quadruple& other : others) {
        EXPECT_GT(agreements(base, other), 498'000U);
        EXPECT_LT(agreements(base, other), 502'000U);
    }
    EXPECT_EQ(agreements(base, base), draws) << "the control found no agreement with itself";
}

TEST(ChoiceStatistics, SmallBoundsFillEvenly) {
    const ChoiceStream stream(seed, Purpose::delay, promtact_link(3, 4));
    std::array<std::uint64_t, 10> wide{};
    std::array<std::uint64_t, 10> shared{};
    for (std::uint64_t i = 0; i < draws; ++i) {
        ++wide[stream.below(ChoicePosition::index(i), 10)];
        ++shared[stream.below_shared(ChoicePosition::index(i), 10)];
    }
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_LT(chi_square_milli(wide[i], draws, 100'000), 10'828U) << i;
        EXPECT_LT(chi_square_milli(shared[i], draws, 100'000), 10'828U) << i;
    }
}

} // namespace
} // namespace promtact
