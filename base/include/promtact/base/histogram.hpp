// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Latency histogram with fixed memory: HDR-style log-linear buckets, integers only.
#pragma once

#include <cstdint>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact {

/// Counts values 0 .. 2^63-1 in buckets whose relative width is at most 1/128 (values below 256 are
/// exact). Units: whatever the caller records, by convention nanoseconds.
class Histogram {
  public:
    /// A bucket of the value axis: all recorded values v with low <= v <= high.
    struct Bucket {
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        std::uint64_t count = 0;
        friend bool operator==(const Bucket&, const Bucket&) = default;
    };

    void record(std::uint64_t value) noexcept;
    void merge(const Histogram& other) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Exact extremes; 0 when empty.
    [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

    /// Nearest-rank percentile: the upper edge of the bucket that holds rank ceil(q * count),
    /// clamped to [min, max]. Units: parts per million (p99 = 990'000). Requires: ppm <= 1'000'000.
    /// 0 when empty.
    [[nodiscard]] std::uint64_t percentile_ppm(std::uint32_t ppm) const noexcept;
    [[nodiscard]] std::uint64_t p50() const noexcept { return percentile_ppm(500'000); }
    [[nodiscard]] std::uint64_t p90() const noexcept { return percentile_ppm(900'000); }
    [[nodiscard]] std::uint64_t p99() const noexcept { return percentile_ppm(990'000); }
    [[nodiscard]] std::uint64_t p999() const noexcept { return percentile_ppm(999'000); }

    /// Non-empty buckets in ascending order.
    [[nodiscard]] std::vector<Bucket> buckets() const;

    /// Rebuilds a histogram from what buckets() gave, with the exact extremes kept beside it.
    /// Errors: format when a bucket's edges are not of this layout, the order is wrong or the
    /// extremes disagree.
    static Result<Histogram>
    from_buckets(const std::vector<Bucket>& buckets, std::uint64_t min, std::uint64_t max);

  private:
    std::vector<std::uint64_t> counts_{}; // grows to the highest bucket used
    std::uint64_t count_ = 0;
    std::uint64_t min_ = 0;
    std::uint64_t max_ = 0;
};

} // namespace promtact
