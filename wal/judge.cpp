// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include "judge_internal.hpp"

namespace promtact::wal {
namespace {

using Block = std::span<const std::byte, block_bytes>;

Block block_at(std::span<const std::byte> content, std::size_t index) {
    return content.subspan(index * block_bytes).first<block_bytes>();
}

bool known_kind(std::uint32_t kind) noexcept {
    return kind >= static_cast<std::uint32_t>(FrameKind::data) &&
           kind <= static_cast<std::uint32_t>(FrameKind::watermark);
}

} // namespace

SegmentJudge::SegmentJudge(
    const JudgeInput& input, const ScanOptions& options, std::vector<VoidRange>& voids)
    : input_(input), options_(options), voids_(voids),
      facts_{
          .segment = input.header.segment,
          .salt = input.header.salt,
          .first_lsn = input.header.first_lsn,
          .recycled = input.header.recycled},
      blocks_(static_cast<std::uint32_t>(input.content.size() / block_bytes)),
      durable_(input.durable_hint) {
    PROMTACT_ASSERT(input.content.size() % block_bytes == 0);
    PROMTACT_ASSERT(input.content.size() >= segment_bytes_min);
    // The first frame of a segment continues from the end of the segment before.
    facts_.end = {facts_.segment, input.header.first_lsn, input.header.previous.chain};
}

void SegmentJudge::arrived(std::size_t bytes) {
    const auto available =
        static_cast<std::uint32_t>(std::min(bytes, input_.content.size()) / block_bytes);
    while (!ended_ && at_ < available) {
        FrameHeader frame;
        const Step step = next_frame(available, frame);
        if (step == Step::later) return;
        ended_ = step == Step::end;
        if (!ended_) accept(frame);
    }
}

Judgement SegmentJudge::finish() {
    facts_.end_block = at_;
    result_.acknowledged = durable_;
    result_.block = at_;
    if (!facts_.sealed || result_.refusal != Refusal::none) look_behind();
    return result_;
}

std::span<const std::byte>
SegmentJudge::frame_bytes(std::uint32_t at, const FrameHeader& frame) const {
    return input_.content.subspan(
        std::size_t{at} * block_bytes, std::size_t{frame.blocks} * block_bytes);
}

SegmentJudge::Step SegmentJudge::refuse(Refusal refusal, const char* why) {
    result_.refusal = refusal;
    result_.why = why;
    return Step::end;
}

/// Whether the next frame of the log stands whole. An end without a refusal is one that a crash may
/// explain.
SegmentJudge::Step SegmentJudge::next_frame(std::uint32_t available, FrameHeader& frame) {
    const Layout layout = input_.header.layout;
    const Block block = block_at(input_.content, at_);
    if (decode_frame(block, layout, frame) != BlockContent::valid) return Step::end;
    if (frame.salt != input_.header.salt) return Step::end;
    // From here on the checksum says that this very log wrote the block in this use of the file.
    if (frame.block_no != at_) {
        return refuse(Refusal::misdirected, "a frame lies where another belongs");
    }
    if (!known_kind(frame.kind)) {
        return refuse(Refusal::unsupported_feature, "a frame kind this version lacks");
    }
    if (const char* why = check_frame_fields(frame, layout, blocks_ - at_); why != nullptr) {
        return refuse(Refusal::corrupt, why);
    }
    if (frame.first_lsn != facts_.end.next_lsn) {
        return refuse(Refusal::sequence, "a frame's LSN does not follow");
    }
    if (frame.prev_chain != facts_.end.chain) {
        return refuse(Refusal::chain, "a frame does not continue the one before it");
    }
    if (frame.durable_lsn < durable_) {
        return refuse(Refusal::corrupt, "a frame vouches for less than the one before it");
    }
    if (at_ + frame.blocks > available) return Step::later;
    for (std::uint32_t i = 0; i < frame.blocks; ++i) {
        if (!frame_block_matches(block, frame, layout, i, block_at(input_.content, at_ + i)))
            return Step::end;
    }
    const auto bytes = frame_bytes(at_, frame);
    if (const char* why = check_body(bytes, frame, layout); why != nullptr) {
        return refuse(Refusal::corrupt, why);
    }
    return check_control(frame, bytes);
}

SegmentJudge::Step
SegmentJudge::check_control(const FrameHeader& frame, std::span<const std::byte> bytes) {
    const FrameKind kind{frame.kind};
    if (kind != FrameKind::fence && kind != FrameKind::trunc_suffix) return Step::frame;
    const ControlBody body = control_body(bytes, frame, input_.header.layout);
    if (kind == FrameKind::trunc_suffix && body.a >= frame.first_lsn) {
        return refuse(Refusal::corrupt, "a truncation keeps what is not written yet");
    }
    if (kind == FrameKind::fence && body.a > frame.first_lsn) {
        return refuse(Refusal::corrupt, "a fence releases what is not written yet");
    }
    return Step::frame;
}

void SegmentJudge::accept(const FrameHeader& frame) {
    const auto bytes = frame_bytes(at_, frame);
    const FrameKind kind{frame.kind};
    if (facts_.index.empty() || at_ - facts_.index.back().block >= input_.index_stride_blocks) {
        facts_.index.push_back({.first_lsn = frame.first_lsn, .block = at_});
    }
    if (kind == FrameKind::trunc_suffix) {
        const ControlBody body = control_body(bytes, frame, input_.header.layout);
        add_void(voids_, {.first = body.a + 1, .last = frame.first_lsn});
    } else if (kind == FrameKind::fence) {
        const ControlBody body = control_body(bytes, frame, input_.header.layout);
        result_.fence_lsn = std::max(result_.fence_lsn, body.a);
        result_.fence_segment = std::max(result_.fence_segment, body.b);
    }
    ended_ = facts_.sealed = kind == FrameKind::seal;
    facts_.end.next_lsn = frame.first_lsn + frame.records;
    facts_.end.chain = frame.chain;
    ++facts_.frames;
    durable_ = frame.durable_lsn;
    at_ += frame.blocks;
    if (options_.on_frame) options_.on_frame(frame, bytes);
}

/// Everything behind the prefix: what it proves, and whether a crash can have left it.
void SegmentJudge::look_behind() {
    std::vector<bool> explained(blocks_, false);
    for (std::uint32_t at = at_; at < blocks_; ++at) {
        const Block block = block_at(input_.content, at);
        FrameHeader frame;
        const BlockContent content = decode_frame(block, input_.header.layout, frame);
        if (content == BlockContent::zero) {
            explained[at] = true;
            continue;
        }
        result_.rest_zero = false;
        if (content != BlockContent::valid || frame.block_no != at) continue;
        explained[at] = true;
        result_.acknowledged = std::max(result_.acknowledged, frame.durable_lsn);
        if (frame.salt == input_.header.salt) {
            ++result_.later_headers;
            result_.torn = true;
            const Lsn last = frame.first_lsn + frame.records - 1;
            result_.highest_seen = std::max(result_.highest_seen, last);
        }
        explain_blocks(at, frame, explained);
    }
    judge_frames(explained);
    look_for_misplaced(explained);
}

/// Blocks that match the table of a header, of this use of the file or an earlier one.
void SegmentJudge::explain_blocks(
    std::uint32_t at, const FrameHeader& frame, std::vector<bool>& explained) const {
    const Layout layout = input_.header.layout;
    if (check_frame_fields(frame, layout, blocks_ - at) != nullptr) return;
    const Block block = block_at(input_.content, at);
    for (std::uint32_t i = 1; i < frame.blocks; ++i) {
        if (frame_block_matches(block, frame, layout, i, block_at(input_.content, at + i))) {
            explained[at + i] = true;
        }
    }
}

/// A crash leaves a write undone or half done, never somewhere else. Blocks of a frame whose header
/// arrived are whatever its table says, a copy of a frame included.
void SegmentJudge::look_for_misplaced(const std::vector<bool>& explained) {
    for (std::uint32_t at = at_; at < blocks_; ++at) {
        FrameHeader frame;
        const Block block = block_at(input_.content, at);
        if (explained[at] ||
            decode_frame(block, input_.header.layout, frame) != BlockContent::valid)
            continue;
        if (frame.salt != input_.header.salt || frame.block_no == at) continue;
        result_.misplaced = at;
        if (frame.records > 0) {
            result_.highest_seen =
                std::max(result_.highest_seen, frame.first_lsn + frame.records - 1);
        }
        return;
    }
}

/// The block at the end of the prefix, and all blocks of frames whose header arrived, were
/// written whole or not at all. Nothing is known of the others: a body block may have arrived
/// without its header.
void SegmentJudge::judge_frames(const std::vector<bool>& explained) {
    if (at_ < blocks_ && !explained[at_]) result_.unexplained = result_.torn = true;
    const Layout layout = input_.header.layout;
    for (std::uint32_t at = at_; at < blocks_; ++at) {
        FrameHeader frame;
        const Block block = block_at(input_.content, at);
        if (decode_frame(block, layout, frame) != BlockContent::valid) continue;
        if (frame.salt != input_.header.salt || frame.block_no != at) continue;
        if (check_frame_fields(frame, layout, blocks_ - at) != nullptr) continue;
        if (!frame_block_matches(block, frame, layout, 0, block)) result_.unexplained = true;
        for (std::uint32_t i = 1; i < frame.blocks; ++i)
            if (!explained[at + i]) result_.unexplained = true;
    }
}

Lsn acknowledged_in(std::span<const std::byte> content, Layout layout) {
    Lsn highest = 0;
    for (std::size_t at = 1; at < content.size() / block_bytes; ++at) {
        FrameHeader frame;
        if (decode_frame(block_at(content, at), layout, frame) != BlockContent::valid) continue;
        if (frame.block_no == at) highest = std::max(highest, frame.durable_lsn);
    }
    return highest;
}

} // namespace promtact::wal
