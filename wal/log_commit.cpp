// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The commit path: frames are closed, written, synced and acknowledged in order.
#include <algorithm>
#include <bit>

#include <promtact/base/choice.h>
#include <promtact/wal/log_core.hpp>

namespace promtact::wal {
namespace {

constexpr std::uint32_t salt_purpose = (1U << 31) | 0x77616cU; // ours alone: "wal"

} // namespace

LogCore::Frame& LogCore::frame(std::uint64_t number) noexcept {
    PROMTACT_ASSERT(number >= frame_head_);
    PROMTACT_ASSERT(number < frame_tail_);
    return frames_[number % frames_max];
}

std::span<std::byte> LogCore::buffer(std::uint32_t index) noexcept {
    PROMTACT_ASSERT(index < buffers_.size());
    return buffers_[index];
}

/// Blocks for frames; one more stays for the seal.
std::uint32_t LogCore::blocks_left() const noexcept {
    if (current_.segment == 0 || current_.sealed) return 0;
    const std::uint64_t blocks = segment_bytes_ / block_bytes;
    PROMTACT_ASSERT(current_.next_block < blocks);
    return static_cast<std::uint32_t>(blocks - 1 - current_.next_block);
}

Result<void> LogCore::open_frame(std::size_t payload_bytes) {
    PROMTACT_ASSERT(!open_buffer_);
    const std::uint64_t data =
        buffers_free_ & ((std::uint64_t{1} << (options_.pipeline_depth + 1)) - 1);
    // Two ring places stay for a seal and a control frame.
    if (data == 0 || frame_tail_ - frame_head_ + 4 > frames_max) {
        return Error{Errc::busy, 0, "log is busy"};
    }
    const std::uint32_t blocks =
        layout_ == Layout::fixed ? 1 : blocks_for_body(record_body_bytes(payload_bytes));
    PROMTACT_TRY(make_room(blocks, false));
    const auto index = static_cast<std::uint32_t>(std::countr_zero(data));
    buffers_free_ &= ~(std::uint64_t{1} << index);
    open_buffer_ = index;
    builder_.start(buffer(index).subspan(block_bytes), layout_, next_lsn_);
    builder_.limit(std::size_t{blocks_left()} * block_bytes);
    return {};
}

Result<void> LogCore::make_room(std::uint32_t blocks, bool use_reserve) {
    PROMTACT_ASSERT(blocks > 0);
    if (blocks_left() >= blocks) return {};
    PROMTACT_TRY(rotate(use_reserve));
    PROMTACT_ASSERT(blocks_left() >= blocks);
    return {};
}

Result<std::uint32_t> LogCore::take_control_buffer() {
    const std::uint64_t control = buffers_free_ >> (options_.pipeline_depth + 1);
    if (control == 0) return Error{Errc::busy, 0, "log is busy"};
    const auto index =
        options_.pipeline_depth + 1 + static_cast<std::uint32_t>(std::countr_zero(control));
    buffers_free_ &= ~(std::uint64_t{1} << index);
    return index;
}

void LogCore::encode_control(
    FrameKind kind, std::uint32_t index, std::uint64_t a, std::uint64_t b) {
    const FrameBuilder::Closing closing{
        .salt = current_.salt,
        .prev_chain = current_.chain,
        .durable_lsn = durable_,
        .block_no = current_.next_block};
    current_.chain = encode_control_frame(
        buffer(index).subspan(block_bytes).first<block_bytes>(), layout_, kind, next_lsn_, closing,
        a, b);
    if (kind == FrameKind::trunc_suffix) ++next_lsn_;
    push_frame(kind, 1, next_lsn_ - 1, index);
    frame(frame_tail_ - 1).fence_segment = b;
}

/// Ends the current segment in the block kept for that.
Result<void> LogCore::seal_current() {
    PROMTACT_ASSERT(!open_buffer_);
    PROMTACT_ASSERT(!current_.sealed);
    PROMTACT_TRY_ASSIGN(const std::uint32_t index, take_control_buffer());
    encode_control(FrameKind::seal, index, 0, 0);
    current_.sealed = true;
    live_.back().sealed = true;
    previous_ = {current_.segment, next_lsn_, current_.chain};
    previous_end_ = PreviousEnd::sealed;
    return {};
}

/// Seals the current segment and goes on in a spare. The last spare is kept for a fence, so that
/// releasing records is possible when the device is full.
Result<void> LogCore::rotate(bool use_reserve) {
    const bool first = live_.empty();
    const std::size_t ready = static_cast<std::size_t>(
        std::count_if(spares_.begin(), spares_.end(), [](const Spare& s) { return s.file != 0; }));
    if (ready == 0 || spares_.front().file == 0 || (ready < 2 && !use_reserve && !first)) {
        if (disk_full_) return Error{Errc::no_space, 0, "device is full"};
        return Error{Errc::busy, 0, "no spare yet"};
    }
    if (current_.segment != 0 && !current_.sealed) {
        PROMTACT_TRY(seal_current());
    }
    const Spare spare = spares_.front();
    spares_.erase(spares_.begin());
    current_ = {
        .segment = spare.segment,
        .salt = promtact_choose(options_.entropy, salt_purpose, spare.segment, next_lsn_),
        .chain = previous_.chain,
        .file = spare.file,
        .header_due = true,
        .recycled = spare.recycled};
    live_.push_back(
        {.segment = current_.segment,
         .salt = current_.salt,
         .first_lsn = next_lsn_,
         .end = {current_.segment, next_lsn_, current_.chain},
         .recycled = current_.recycled});
    ++stats_.rotations;
    return {};
}

void LogCore::encode_segment_header(std::span<std::byte> out) {
    const SegmentHeader header{
        .uuid = super_.uuid,
        .segment = current_.segment,
        .salt = current_.salt,
        .first_lsn = previous_.next_lsn,
        .previous = previous_,
        .previous_end = previous_end_,
        .segment_bytes = segment_bytes_,
        .layout = layout_,
        .recycled = current_.recycled};
    encode(header, out.first<block_bytes>());
}

void LogCore::close_frame() {
    if (!open_buffer_) return;
    const std::uint32_t index = *open_buffer_;
    open_buffer_.reset();
    if (builder_.records() == 0) {
        buffers_free_ |= std::uint64_t{1} << index;
        return;
    }
    const Lsn last_lsn = builder_.first_lsn() + builder_.records() - 1;
    PROMTACT_ASSERT(last_lsn == next_lsn_ - 1);
    const FrameBuilder::Closed closed = builder_.finish(
        {.salt = current_.salt,
         .prev_chain = current_.chain,
         .durable_lsn = durable_,
         .block_no = current_.next_block});
    current_.chain = closed.chain;
    push_frame(FrameKind::data, closed.blocks, last_lsn, index);
}

void LogCore::push_frame(FrameKind kind, std::uint32_t blocks, Lsn last_lsn, std::uint32_t index) {
    PROMTACT_ASSERT(frame_tail_ - frame_head_ < frames_max);
    const std::uint64_t bytes = std::uint64_t{blocks} * block_bytes;
    const bool header = current_.header_due;
    Frame& added = frames_[frame_tail_ % frames_max];
    added = {
        .kind = kind,
        .last_lsn = last_lsn,
        .segment = current_.segment,
        .file = current_.file,
        .offset = header ? 0 : std::uint64_t{current_.next_block} * block_bytes,
        .data = buffer(index).subspan(
            header ? 0 : block_bytes, static_cast<std::size_t>(bytes) + (header ? block_bytes : 0)),
        .buffer = index};
    if (header) encode_segment_header(added.data);
    current_.header_due = false;
    ++frame_tail_;
    ++stats_.frames;
    SegmentFacts& facts = live_.back();
    if (facts.index.empty() ||
        current_.next_block - facts.index.back().block >= options_.scan.index_stride_blocks) {
        facts.index.push_back({.first_lsn = facts.end.next_lsn, .block = current_.next_block});
    }
    current_.next_block += blocks;
    facts.end = {current_.segment, last_lsn + 1, current_.chain};
    facts.end_block = current_.next_block;
    ++facts.frames;
    hinted_ = durable_;
}

Result<void>
LogCore::push_control(FrameKind kind, std::uint64_t a, std::uint64_t b, bool use_reserve) {
    // One buffer and ring place more than it takes: making room may need a seal.
    const std::uint64_t control = buffers_free_ >> (options_.pipeline_depth + 1);
    if (std::popcount(control) < 2 || frame_tail_ - frame_head_ + 4 > frames_max) {
        return Error{Errc::busy, 0, "log is busy"};
    }
    close_frame();
    PROMTACT_TRY(make_room(1, use_reserve));
    PROMTACT_TRY_ASSIGN(const std::uint32_t index, take_control_buffer());
    encode_control(kind, index, a, b);
    return {};
}

void LogCore::commit(Group group) {
    // A frame is closed only when it can be written at once: until then it grows.
    const bool gathers = group == Group::gather && state_ == State::ready;
    if (open_buffer_ && !gathers && writing_ < options_.pipeline_depth) {
        const bool blocked =
            frame_head_ < frame_tail_ && (frame(frame_head_).segment != current_.segment ||
                                          frame(frame_tail_ - 1).state == Frame::State::queued);
        if (!blocked) close_frame();
    }
    submit_frames();
    submit_sync();
    idle_work();
    submit_frames();
}

void LogCore::submit_frames() {
    for (std::uint64_t number = frame_head_; number < frame_tail_; ++number) {
        Frame& next = frame(number);
        if (next.state != Frame::State::queued) continue;
        // A segment is begun only when everything in the one before it is durable.
        if (next.segment != frame(frame_head_).segment) return;
        if (writing_ >= options_.pipeline_depth) return;
        if (!submit(
                Op::frame,
                {.kind = IoKind::write,
                 .file = next.file,
                 .offset = next.offset,
                 .data = next.data},
                number)) {
            return;
        }
        if (next.segment > super_.highest_opened) {
            // Not before the segment's predecessor is durable: SUPER must never be further ahead
            // than one segment whose header may be missing.
            PROMTACT_ASSERT(next.offset == 0);
            super_.highest_opened = next.segment;
            super_dirty_ = true;
        }
        next.state = Frame::State::writing;
        submitted_ = std::max(submitted_, next.last_lsn);
        ++writing_;
        stats_.bytes_written += next.data.size();
    }
}

void LogCore::on_frame(std::uint64_t number, std::int64_t result) {
    Frame& written = frame(number);
    PROMTACT_ASSERT(written.state == Frame::State::writing);
    --writing_;
    const Write verdict =
        judge_write(result, written.data.size(), written.rewrites, written.short_seen);
    if (verdict == Write::fatal) return;
    if (verdict == Write::again) {
        written.state = Frame::State::queued;
        return;
    }
    written.state = Frame::State::written;
    buffers_free_ |= std::uint64_t{1} << written.buffer;
}

/// One sync for everything written without a gap. It waits for the writes that were under way when
/// the first of them was whole: a burst longer than a frame would take a sync for each otherwise.
/// It does not wait for those submitted since, so that a steady stream is acknowledged too.
void LogCore::submit_sync() {
    if (sync_tail_ - sync_head_ >= options_.syncs_max) return;
    std::uint64_t through = std::max(sync_submitted_, frame_head_);
    bool worth = false;
    std::uint32_t file = 0;
    for (; through < frame_tail_ && frame(through).state == Frame::State::written; ++through) {
        worth = worth || frame(through).kind != FrameKind::watermark || state_ == State::closing;
        file = frame(through).file;
    }
    if (!worth) return;
    if (sync_waits_for_ <= sync_submitted_) {
        sync_waits_for_ = through;
        while (sync_waits_for_ < frame_tail_ &&
               frame(sync_waits_for_).state != Frame::State::queued)
            ++sync_waits_for_;
    }
    if (through < sync_waits_for_) return;
    if (!submit(Op::sync, {.kind = IoKind::sync_data, .file = file}, sync_tail_)) return;
    syncs_[sync_tail_ % 2] = {.through = through};
    ++sync_tail_;
    sync_submitted_ = through;
    ++stats_.syncs;
}

void LogCore::on_sync(std::uint64_t number, std::int64_t result) {
    if (result != 0) {
        // Whether the data arrived is unknown, and a second sync would say yes without knowing.
        return fail(result < 0 ? static_cast<int>(-result) : EPROTO, "syncing a segment");
    }
    syncs_[number % 2].done = true;
    // A later sync proves nothing while an earlier one may still report a failure.
    while (sync_head_ < sync_tail_ && syncs_[sync_head_ % 2].done) {
        sync_done_ = syncs_[sync_head_ % 2].through;
        ++sync_head_;
    }
    advance();
}

/// Acknowledges what is synced, in order. The first acknowledgement in a segment also waits for
/// SUPER to name it: the loss of that file is then noticed.
void LogCore::advance() {
    while (frame_head_ < frame_tail_ && frame_head_ < sync_done_ &&
           frame(frame_head_).segment <= super_durable_.highest_opened) {
        pop_frame();
    }
}

void LogCore::pop_frame() {
    const Frame& front = frame(frame_head_);
    PROMTACT_ASSERT(front.last_lsn >= durable_);
    if (front.last_lsn > durable_) idle_since_ns_ = now_ns_;
    durable_ = front.last_lsn;
    if (front.kind == FrameKind::seal) give_file(front.file);
    if (front.kind == FrameKind::fence && front.fence_segment > super_.first_live_segment) {
        super_.first_live_segment = front.fence_segment;
        super_.first_live_lsn = first_live_lsn_ = fence_pushed_;
        super_dirty_ = true;
    }
    ++frame_head_;
}

/// After a while without appends a watermark tells a later reader that everything before it was
/// acknowledged. Nobody waits for it. A full segment is sealed instead, which says the same.
void LogCore::idle_work() {
    if (state_ != State::ready || hinted_ >= durable_ || open_buffer_) return;
    if (frame_head_ != frame_tail_ || current_.sealed) return;
    if (now_ns_ < idle_since_ns_ + options_.watermark_delay_ns) return;
    const bool said = blocks_left() == 0
                          ? seal_current().has_value()
                          : push_control(FrameKind::watermark, 0, 0, false).has_value();
    if (said) ++stats_.watermarks;
}

} // namespace promtact::wal
