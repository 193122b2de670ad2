// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <bit>

#include <promtact/base/assert.hpp>
#include <promtact/base/histogram.hpp>

namespace promtact {
namespace {

// Values below 256 have a bucket each. Above, each power of two is cut into 128 equal parts.
constexpr std::uint32_t linear_buckets = 256;
constexpr std::uint32_t parts_log2 = 7;
constexpr std::uint32_t parts = 1U << parts_log2;
static_assert(linear_buckets == 2 * parts); // so that the first cut power of two continues it

std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < linear_buckets) return value;
    const auto exponent = static_cast<std::uint32_t>(std::bit_width(value)) - 1; // >= 8
    const std::uint32_t shift = exponent - parts_log2;
    const std::uint64_t part = (value >> shift) - parts; // 0 .. 127
    PROMTACT_ASSERT(part < parts);
    return linear_buckets + (exponent - 8) * parts + part;
}

Histogram::Bucket edges_of(std::size_t index) noexcept {
    if (index < linear_buckets) return {.low = index, .high = index, .count = 0};
    const std::size_t above = index - linear_buckets;
    const auto exponent = static_cast<std::uint32_t>(above / parts) + 8;
    PROMTACT_ASSERT(exponent < 63);
    const std::uint64_t part = above % parts + parts;
    const std::uint32_t shift = exponent - parts_log2;
    const std::uint64_t low = part << shift;
    return {.low = low, .high = low + ((std::uint64_t{1} << shift) - 1), .count = 0};
}

} // namespace

void Histogram::record(std::uint64_t value) noexcept {
    value = std::min(value, ~std::uint64_t{0} >> 1);
    const std::size_t index = bucket_of(value);
    if (index >= counts_.size()) counts_.resize(index + 1, 0);
    PROMTACT_ASSERT(index < counts_.size());
    ++counts_[index];
    min_ = count_ == 0 ? value : std::min(min_, value);
    max_ = std::max(max_, value);
    ++count_;
    PROMTACT_ASSERT(min_ <= max_);
}

void Histogram::merge(const Histogram& other) noexcept {
    if (other.count_ == 0) return;
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size(), 0);
    for (std::size_t i = 0; i < other.counts_.size(); ++i)
        counts_[i] += other.counts_[i];
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    count_ += other.count_;
    PROMTACT_ASSERT(min_ <= max_);
    PROMTACT_ASSERT(count_ >= other.count_);
}

std::uint64_t Histogram::percentile_ppm(std::uint32_t ppm) const noexcept {
    PROMTACT_ASSERT(ppm <= 1'000'000);
    if (count_ == 0) return 0;
    // ceil(count * ppm / 10^6) without overflow: the remainder times ppm stays below 10^12.
    const std::uint64_t whole = count_ / 1'000'000;
    const std::uint64_t rest = count_ % 1'000'000;
    const std::uint64_t rank =
        std::max<std::uint64_t>(1, whole * ppm + (rest * ppm + 999'999) / 1'000'000);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        seen += counts_[i];
        if (seen >= rank) return std::clamp(edges_of(i).high, min_, max_);
    }
    PROMTACT_UNREACHABLE();
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
    std::vector<Bucket> out;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == 0) continue;
        Bucket bucket = edges_of(i);
        bucket.count = counts_[i];
        out.push_back(bucket);
    }
    return out;
}

Result<Histogram>
Histogram::from_buckets(const std::vector<Bucket>& buckets, std::uint64_t min, std::uint64_t max) {
    Histogram histogram;
    for (const Bucket& bucket : buckets) {
        const std::size_t index = bucket_of(bucket.low);
        // Only what lies below has edges.
        const bool in_range = bucket.low <= ~std::uint64_t{0} >> 1;
        const Bucket edges = in_range ? edges_of(index) : Bucket{};
        if (!in_range || edges.low != bucket.low || edges.high != bucket.high) {
            return Error{
                Errc::format, 0,
                "histogram bucket starting at " + std::to_string(bucket.low) +
                    " has foreign edges"};
        }
        if (bucket.count == 0 || index < histogram.counts_.size())
            return Error{Errc::format, 0, "histogram buckets must ascend and be non-empty"};
        if (bucket.count > ~std::uint64_t{0} - histogram.count_)
            return Error{Errc::format, 0, "histogram counts overflow"};
        histogram.counts_.resize(index + 1, 0);
        histogram.counts_[index] = bucket.count;
        histogram.count_ += bucket.count;
    }
    if (histogram.count_ == 0) return histogram;
    const bool low_agrees = bucket_of(min) == bucket_of(buckets.front().low);
    const bool high_agrees = bucket_of(max) == bucket_of(buckets.back().low);
    if (!low_agrees || !high_agrees || min > max)
        return Error{Errc::format, 0, "histogram extremes disagree with its buckets"};
    histogram.min_ = min;
    histogram.max_ = max;
    return histogram;
}

} // namespace promtact
