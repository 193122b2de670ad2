// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Did our flushes reach the disk? The disk's counter counts everybody's, so stretches of writing
// are compared with idle stretches of the same length around them.
#pragma once

#include <cstdint>
#include <span>

namespace promtact::gates {

/// One stretch of durable writes and the idle stretch before it.
struct FlushSegment {
    std::uint64_t operations = 0;
    std::uint64_t active_flushes = 0;
    std::uint64_t active_ns = 0;
    std::uint64_t idle_flushes = 0;
    std::uint64_t idle_ns = 0;
};

enum class FlushEvidence : std::uint8_t {
    seen,           // the counter moved once per operation
    missing,        // it did not
    undeterminable, // others flush so often that ours cannot be told apart
};

struct FlushJudgement {
    FlushEvidence evidence = FlushEvidence::missing;
    std::uint64_t segments_seen = 0;
    std::uint64_t background = 0; // flushes of others per segment, median
};

/// A segment counts as seen when, less the background, at least three quarters of its operations
/// were flushed (the block layer may merge a flush of ours with somebody's). Nine of ten segments
/// must be: a burst of foreign flushes can then neither fake nor hide the evidence. Undeterminable
/// when the background alone exceeds a quarter of the operations.
/// Requires: !segments.empty(), every operations and idle_ns > 0
FlushJudgement judge_flushes(std::span<const FlushSegment> segments);

} // namespace promtact::gates
