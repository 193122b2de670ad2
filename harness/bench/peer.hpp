// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Ours against a peer, so that a noisy machine disturbs both alike: blocks of ABBA, paired ratios,
// and a verdict that admits when it cannot tell.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

#include "bench/statistics.hpp"

namespace promtact::harness::bench {

/// One run of one side.
struct RunFigures {
    std::uint64_t operations_per_second = 0;
    std::uint64_t p50_ns = 0;
};

struct PeerLimits {
    std::uint64_t operations_ratio_ppm_min = 950'000;
    std::uint64_t p50_ratio_ppm_max = 1'050'000;
};

/// How one round went, and how the whole comparison ended.
enum class PeerVerdict : std::uint8_t {
    pass,         // both ratios are within the limits
    inconclusive, // not so, but the intervals do not exclude it
    fail,         // an interval excludes it; a comparison fails when every round does
};
std::string_view to_string(PeerVerdict verdict) noexcept;

PeerVerdict judge_peer(
    const RatioInterval& operations, const RatioInterval& p50, const PeerLimits& limits) noexcept;

struct PeerComparison {
    std::vector<RunFigures> ours{};
    std::vector<RunFigures> theirs{}; // theirs[i] ran beside ours[i]
    RatioInterval operations{};
    RatioInterval p50{};
    PeerVerdict verdict = PeerVerdict::inconclusive;
    std::uint32_t rounds = 0;
};

struct PeerPlan {
    std::uint32_t blocks = 5;     // of ABBA per round, two pairs each
    std::uint32_t rounds_max = 3; // a round is repeated while it does not pass
    std::uint64_t seed = 0x4A2C;
    PeerLimits limits{};
    std::function<Result<RunFigures>()> ours{};
    std::function<Result<RunFigures>()> theirs{};
    std::function<void(const PeerComparison&)> after_round{}; // may be empty
};

/// One uncounted run of each, then rounds until one passes or rounds_max. Each round is judged
/// alone. Returns the last round, with the verdict of all: pass when it passed, fail when every
/// round failed, inconclusive otherwise.
/// Errors: those of a run. Requires: blocks > 0, rounds_max > 0
Result<PeerComparison> compare_with_peer(const PeerPlan& plan);

} // namespace promtact::harness::bench
