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

class Judge {
  public:
    Judge(
        const JudgeInput& input, const ScanOptions& options, SegmentFacts& facts,
        std::vector<VoidRange>& voids)
        : input_(input), options_(options), facts_(facts), voids_(voids),
          blocks_(static_cast<std::uint32_t>(input.content.size() / block_bytes)),
          durable_(input.durable_hint) {}

    Judgement run() {
        facts_.end = {facts_.segment, input_.header.first_lsn, first_chain()};
        std::uint32_t at = 1;
        while (at < blocks_ && !facts_.sealed) {
            FrameHeader frame;
            if (!frame_stands(at, frame)) break;
            accept(at, frame);
            at += frame.blocks;
        }
        facts_.end_block = at;
        result_.acknowledged = durable_;
        if (result_.refusal == Refusal::none) result_.block = at;
        if (!facts_.sealed || result_.refusal != Refusal::none) look_behind(at);
        return result_;
    }

  private:
    /// The first frame of a segment continues from the salt and the end of the segment before.
    [[nodiscard]] Chain first_chain() const noexcept { return input_.header.previous.chain; }

    [[nodiscard]] std::span<const std::byte>
    frame_bytes(std::uint32_t at, const FrameHeader& frame) const {
        return input_.content.subspan(
            std::size_t{at} * block_bytes, std::size_t{frame.blocks} * block_bytes);
    }
    bool refuse(std::uint32_t at, Refusal refusal, const char* why) {
        result_.refusal = refusal;
        result_.why = why;
        result_.block = at;
        return false;
    }

    /// True when the next frame of the log stands whole at this block. False without a refusal when
    /// a crash may explain it.
    bool frame_stands(std::uint32_t at, FrameHeader& frame) {
        const Layout layout = input_.header.layout;
        const Block block = block_at(input_.content, at);
        if (decode_frame(block, layout, frame) != BlockContent::valid) return false;
        if (frame.salt != input_.header.salt) return false;
        // From here on the checksum says that this very log wrote the block in this use of the
        // file.
        if (frame.block_no != at) {
            return refuse(at, Refusal::misdirected, "a frame lies where another belongs");
        }
        if (!known_kind(frame.kind)) {
            return refuse(at, Refusal::unsupported_feature, "a frame kind this version lacks");
        }
        if (const char* why = check_frame_fields(frame, layout, blocks_ - at); why != nullptr) {
            return refuse(at, Refusal::corrupt, why);
        }
        if (frame.first_lsn != facts_.end.next_lsn) {
            return refuse(at, Refusal::sequence, "a frame's LSN does not follow");
        }
        if (frame.prev_chain != facts_.end.chain) {
            return refuse(at, Refusal::chain, "a frame does not continue the one before it");
        }
        if (frame.durable_lsn < durable_) {
            return refuse(at, Refusal::corrupt, "a frame vouches for less than the one before it");
        }
        for (std::uint32_t i = 0; i < frame.blocks; ++i) {
            if (!frame_block_matches(block, frame, layout, i, block_at(input_.content, at + i))) {
                return false;
            }
        }
        const auto bytes = frame_bytes(at, frame);
        if (const char* why = check_body(bytes, frame, layout); why != nullptr) {
            return refuse(at, Refusal::corrupt, why);
        }
        return check_control(at, frame, bytes);
    }
    bool
    check_control(std::uint32_t at, const FrameHeader& frame, std::span<const std::byte> bytes) {
        const FrameKind kind{frame.kind};
        if (kind != FrameKind::fence && kind != FrameKind::trunc_suffix) return true;
        const ControlBody body = control_body(bytes, frame, input_.header.layout);
        if (kind == FrameKind::trunc_suffix && body.a >= frame.first_lsn) {
            return refuse(at, Refusal::corrupt, "a truncation keeps what is not written yet");
        }
        if (kind == FrameKind::fence && body.a > frame.first_lsn) {
            return refuse(at, Refusal::corrupt, "a fence releases what is not written yet");
        }
        return true;
    }

    void accept(std::uint32_t at, const FrameHeader& frame) {
        const auto bytes = frame_bytes(at, frame);
        const FrameKind kind{frame.kind};
        if (facts_.index.empty() || at - facts_.index.back().block >= input_.index_stride_blocks) {
            facts_.index.push_back({.first_lsn = frame.first_lsn, .block = at});
        }
        if (kind == FrameKind::trunc_suffix) {
            const ControlBody body = control_body(bytes, frame, input_.header.layout);
            add_void(voids_, {.first = body.a + 1, .last = frame.first_lsn});
        } else if (kind == FrameKind::fence) {
            const ControlBody body = control_body(bytes, frame, input_.header.layout);
            result_.fence_lsn = std::max(result_.fence_lsn, body.a);
            result_.fence_segment = std::max(result_.fence_segment, body.b);
        }
        facts_.sealed = kind == FrameKind::seal;
        facts_.end.next_lsn = frame.first_lsn + frame.records;
        facts_.end.chain = frame.chain;
        ++facts_.frames;
        durable_ = frame.durable_lsn;
        if (options_.on_frame) options_.on_frame(frame, bytes);
    }

    /// Everything behind the prefix: what it proves, and whether a crash can have left it.
    void look_behind(std::uint32_t begin) {
        std::vector<bool> explained(blocks_, false);
        for (std::uint32_t at = begin; at < blocks_; ++at) {
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
        judge_frames(begin, explained);
    }
    /// Blocks that match the table of a header, of this use of the file or an earlier one.
    void
    explain_blocks(std::uint32_t at, const FrameHeader& frame, std::vector<bool>& explained) const {
        const Layout layout = input_.header.layout;
        if (check_frame_fields(frame, layout, blocks_ - at) != nullptr) return;
        const Block block = block_at(input_.content, at);
        for (std::uint32_t i = 1; i < frame.blocks; ++i) {
            if (frame_block_matches(block, frame, layout, i, block_at(input_.content, at + i))) {
                explained[at + i] = true;
            }
        }
    }
    /// The block at the end of the prefix, and all blocks of frames whose header arrived, were
    /// written whole or not at all. Nothing is known of the others: a body block may have arrived
    /// without its header.
    void judge_frames(std::uint32_t begin, const std::vector<bool>& explained) {
        if (begin < blocks_ && !explained[begin]) result_.unexplained = result_.torn = true;
        const Layout layout = input_.header.layout;
        for (std::uint32_t at = begin; at < blocks_; ++at) {
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

    const JudgeInput& input_;
    const ScanOptions& options_;
    SegmentFacts& facts_;
    std::vector<VoidRange>& voids_;
    std::uint32_t blocks_;
    Lsn durable_;
    Judgement result_{};
};

} // namespace

Judgement judge_segment(
    const JudgeInput& input, const ScanOptions& options, SegmentFacts& facts,
    std::vector<VoidRange>& voids) {
    PROMTACT_ASSERT(input.content.size() % block_bytes == 0);
    PROMTACT_ASSERT(input.content.size() >= segment_bytes_min);
    return Judge(input, options, facts, voids).run();
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
