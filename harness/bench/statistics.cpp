// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/choice.h>

namespace promtact::harness::bench {
namespace {

std::uint64_t ppm(double log_ratio) {
    const double value = std::exp(log_ratio) * 1e6;
    return value >= 1e15 ? 1'000'000'000'000'000 : static_cast<std::uint64_t>(std::llround(value));
}

// Value at rank ceil(q * n), q in parts per thousand, of a sorted vector.
double at_rank(const std::vector<double>& sorted, std::size_t permille) {
    const std::size_t rank = std::max<std::size_t>(1, (sorted.size() * permille + 999) / 1000);
    return sorted[rank - 1];
}

} // namespace

std::uint64_t median(std::span<const std::uint64_t> values) {
    PROMTACT_ASSERT(!values.empty());
    std::vector<std::uint64_t> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() - 1) / 2];
}

RatioInterval paired_ratio(
    std::span<const std::uint64_t> numerators, std::span<const std::uint64_t> denominators,
    std::uint64_t seed, std::uint32_t resamples) {
    PROMTACT_ASSERT(!numerators.empty());
    PROMTACT_ASSERT(numerators.size() == denominators.size());
    PROMTACT_ASSERT(resamples > 0);
    const std::size_t pairs = numerators.size();
    std::vector<double> logs;
    double sum = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
        PROMTACT_ASSERT(numerators[i] > 0);
        PROMTACT_ASSERT(denominators[i] > 0);
        logs.push_back(
            std::log(static_cast<double>(numerators[i]) / static_cast<double>(denominators[i])));
        sum += logs.back();
    }
    std::vector<double> means;
    means.reserve(resamples);
    for (std::uint32_t r = 0; r < resamples; ++r) {
        double resampled = 0;
        for (std::size_t i = 0; i < pairs; ++i) {
            const auto bits = promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, r, i);
            resampled += logs[promtact_bounded(bits, static_cast<promtact_u32>(pairs))];
        }
        means.push_back(resampled / static_cast<double>(pairs));
    }
    std::sort(means.begin(), means.end());
    return {
        .low_ppm = ppm(at_rank(means, 25)),
        .point_ppm = ppm(sum / static_cast<double>(pairs)),
        .high_ppm = ppm(at_rank(means, 975))};
}

} // namespace promtact::harness::bench
