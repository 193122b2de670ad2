// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <vector>

#include <promtact/base/assert.hpp>

#include "storage_support/flush_evidence_internal.hpp"

namespace promtact::gates {
namespace {

// Flushes the others would have sent while we were active, going by the idle stretch.
std::uint64_t expected_background(const FlushSegment& segment) {
    PROMTACT_ASSERT(segment.idle_ns > 0);
    // Counts and microseconds stay far below 2^32, so the product fits.
    const std::uint64_t active_us = std::max<std::uint64_t>(1, segment.active_ns / 1000);
    const std::uint64_t idle_us = std::max<std::uint64_t>(1, segment.idle_ns / 1000);
    return segment.idle_flushes * active_us / idle_us;
}

} // namespace

FlushJudgement judge_flushes(std::span<const FlushSegment> segments) {
    PROMTACT_ASSERT(!segments.empty());
    std::vector<std::uint64_t> backgrounds;
    std::uint64_t operations = 0;
    for (const FlushSegment& segment : segments) {
        PROMTACT_ASSERT(segment.operations > 0);
        backgrounds.push_back(expected_background(segment));
        operations += segment.operations;
    }
    std::sort(backgrounds.begin(), backgrounds.end());
    FlushJudgement judgement;
    judgement.background = backgrounds[backgrounds.size() / 2];
    for (const FlushSegment& segment : segments) {
        const std::uint64_t ours =
            segment.active_flushes - std::min(segment.active_flushes, judgement.background);
        if (4 * ours >= 3 * segment.operations) ++judgement.segments_seen;
    }
    if (4 * judgement.background * segments.size() > operations) {
        judgement.evidence = FlushEvidence::undeterminable;
    } else if (10 * judgement.segments_seen >= 9 * segments.size()) {
        judgement.evidence = FlushEvidence::seen;
    } else {
        judgement.evidence = FlushEvidence::missing;
    }
    return judgement;
}

} // namespace promtact::gates
