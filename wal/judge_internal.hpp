// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The verdict about one segment's content in memory: rules R3 and R5.
#pragma once

#include <promtact/wal/scan.hpp>

namespace promtact::wal {

/// What the frames of one segment say.
struct Judgement {
    Refusal refusal = Refusal::none; // damage no crash explains, wherever the segment stands
    const char* why = "";
    std::uint32_t block = 0;  // of the refusal, or the first block that is not part of the prefix
    bool torn = false;        // content of this use of the file lies behind the prefix
    bool unexplained = false; // content that a crash on a device of whole blocks cannot leave
    bool rest_zero = true;
    std::uint32_t later_headers = 0;
    Lsn acknowledged = 0; // highest LSN that anything in the segment says was acknowledged
    Lsn highest_seen = 0; // highest LSN any frame header in it names
    std::uint64_t fence_segment = 0;
    Lsn fence_lsn = 0;
};

struct JudgeInput {
    std::span<const std::byte> content{}; // the whole segment
    SegmentHeader header{};
    Lsn durable_hint = 0; // of the segments before
    std::uint32_t index_stride_blocks = 16;
};

/// Follows the frames from block 1 and fills facts and voids; then looks at everything behind them.
Judgement judge_segment(
    const JudgeInput& input, const ScanOptions& options, SegmentFacts& facts,
    std::vector<VoidRange>& voids);

/// Highest LSN that frames of any use of the file, each at its own place, say was acknowledged.
/// For a file whose header is not there.
Lsn acknowledged_in(std::span<const std::byte> content, Layout layout);

} // namespace promtact::wal
