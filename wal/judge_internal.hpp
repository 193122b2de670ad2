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
    std::uint32_t misplaced = 0; // first block behind the prefix that belongs elsewhere; 0: none
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

/// Judges one segment, as far as it has arrived.
class SegmentJudge {
  public:
    /// Adds what frames void to voids, and tells options.on_frame of each that stands.
    /// Lifetime: options and voids outlive the judge, and so does the content
    SegmentJudge(
        const JudgeInput& input, const ScanOptions& options, std::vector<VoidRange>& voids);

    /// Follows the frames from block 1 that lie whole within the first bytes of the content.
    void arrived(std::size_t bytes);
    /// What the whole segment says: everything behind the frames is looked at too.
    /// Requires: arrived(content.size()); called once
    Judgement finish();
    [[nodiscard]] SegmentFacts& facts() noexcept { return facts_; }

  private:
    enum class Step : std::uint8_t { frame, end, later };
    [[nodiscard]] std::span<const std::byte>
    frame_bytes(std::uint32_t at, const FrameHeader& frame) const;
    Step refuse(Refusal refusal, const char* why);
    Step next_frame(std::uint32_t available, FrameHeader& frame);
    Step check_control(const FrameHeader& frame, std::span<const std::byte> bytes);
    void accept(const FrameHeader& frame);
    void look_behind();
    void
    explain_blocks(std::uint32_t at, const FrameHeader& frame, std::vector<bool>& explained) const;
    void judge_frames(const std::vector<bool>& explained);
    void look_for_misplaced(const std::vector<bool>& explained);

    JudgeInput input_;
    const ScanOptions& options_;
    std::vector<VoidRange>& voids_;
    SegmentFacts facts_;
    std::uint32_t blocks_;
    std::uint32_t at_ = 1; // where the next frame begins
    bool ended_ = false;   // no frame that stands begins there
    Lsn durable_;
    Judgement result_{};
};

/// Highest LSN that frames of any use of the file, each at its own place, say was acknowledged.
/// For a file whose header is not there.
Lsn acknowledged_in(std::span<const std::byte> content, Layout layout);

} // namespace promtact::wal
