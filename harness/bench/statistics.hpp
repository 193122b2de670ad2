// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Summaries of repeated runs. Deterministic: the resampling is drawn by the decision function, so
// the same samples always give the same interval.
#pragma once

#include <cstdint>
#include <span>

namespace promtact::harness::bench {

/// The middle value; the lower of the two middle ones for an even count. Requires: !values.empty()
std::uint64_t median(std::span<const std::uint64_t> values);

/// A ratio and its 95 % interval, in parts per million.
struct RatioInterval {
    std::uint64_t low_ppm = 0;
    std::uint64_t point_ppm = 0;
    std::uint64_t high_ppm = 0;
    friend bool operator==(const RatioInterval&, const RatioInterval&) = default;
};

/// Geometric mean of numerators[i] / denominators[i], with the percentile bootstrap over pairs.
/// Pairs are resampled, never single runs: both runs of a pair saw the same neighbours.
/// Requires: equal sizes, at least one pair, every value > 0
RatioInterval paired_ratio(
    std::span<const std::uint64_t> numerators, std::span<const std::uint64_t> denominators,
    std::uint64_t seed, std::uint32_t resamples = 10'000);

} // namespace promtact::harness::bench
