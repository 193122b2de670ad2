// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// promtact::base from outside: records values in the latency histogram and prints percentiles.
#include <cstdint>
#include <cstdio>

#include <promtact/base/error_text.hpp>
#include <promtact/base/histogram.hpp>

int main() {
    promtact::Histogram histogram;
    for (std::uint64_t value = 1; value <= 200; ++value)
        histogram.record(value);

    std::printf(
        "count %llu p50 %llu p99 %llu max %llu\n",
        static_cast<unsigned long long>(histogram.count()),
        static_cast<unsigned long long>(histogram.p50()),
        static_cast<unsigned long long>(histogram.p99()),
        static_cast<unsigned long long>(histogram.max()));

    const auto refused = promtact::Histogram::from_buckets({{1, 3, 1}}, 1, 3);
    if (refused) return 1;
    std::printf("refused: %s\n", promtact::describe(refused.error()).c_str());
    return histogram.p50() == 100 && histogram.p99() == 198 ? 0 : 1;
}
