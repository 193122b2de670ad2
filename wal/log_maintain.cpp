// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Beside the commit path: SUPER, spare segments, the release of old ones, a clean close. One
// request of each kind at a time.
#include <algorithm>
#include <cerrno>

#include <promtact/wal/log_core.hpp>

namespace promtact::wal {
namespace {

bool out_of_space(std::int64_t result) noexcept {
    return result == -ENOSPC || result == -EDQUOT || result == -EFBIG;
}

} // namespace

// SUPER: every fact is first in super_, then in a slot of the next generation.

void LogCore::write_super() {
    if (super_step_ == SuperStep::idle) {
        // While the file is being made its slot must wait for it.
        const bool made = state_ != State::opening || repair_ == Repair::super ||
                          repair_ == Repair::segment || repair_ == Repair::done;
        if (!super_dirty_ || !made) return;
        ++super_.generation;
        super_written_ = super_;
        super_dirty_ = false;
        super_rewrites_ = 0;
        super_step_ = SuperStep::write;
        super_submitted_ = false;
        std::fill(super_buffer_.begin(), super_buffer_.end(), std::byte{0});
        const std::size_t slot = static_cast<std::size_t>(super_.generation % super_slots);
        encode(super_, super_buffer_.subspan(slot * block_bytes).first<block_bytes>());
    }
    if (super_submitted_) return;
    if (super_step_ == SuperStep::sync) {
        super_submitted_ =
            submit(Op::super, {.kind = IoKind::sync_data, .file = LogScan::super_file});
        return;
    }
    const std::size_t at =
        static_cast<std::size_t>(super_written_.generation % super_slots) * block_bytes;
    super_submitted_ = submit(
        Op::super, {.kind = IoKind::write,
                    .file = LogScan::super_file,
                    .offset = super_whole_ ? 0 : at,
                    .data = super_whole_ ? super_buffer_ : super_buffer_.subspan(at, block_bytes)});
}

void LogCore::on_super(std::int64_t result) {
    super_submitted_ = false;
    if (super_step_ == SuperStep::write) {
        bool short_seen = super_rewrites_ > 0;
        const std::size_t bytes = super_whole_ ? super_buffer_.size() : block_bytes;
        if (judge_write(result, bytes, super_rewrites_, short_seen) == Write::whole) {
            super_step_ = SuperStep::sync;
        }
        return;
    }
    PROMTACT_ASSERT(super_step_ == SuperStep::sync);
    if (result != 0) {
        return fail(result < 0 ? static_cast<int>(-result) : EPROTO, "syncing SUPER");
    }
    super_step_ = SuperStep::idle;
    super_whole_ = false;
    on_super_durable();
}

void LogCore::on_super_durable() {
    super_durable_ = super_written_;
    advance();
    // Segments below the fence: the frame and SUPER both say so durably.
    while (!live_.empty() && live_.front().segment < super_durable_.first_live_segment) {
        PROMTACT_ASSERT(live_.size() > 1);
        released_.push_back(live_.front().segment);
        live_.erase(live_.begin());
        ++stats_.segments_released;
    }
    while (!voids_.empty() && voids_.front().last < first_live_lsn_)
        voids_.erase(voids_.begin());
    if (state_ == State::closing && super_durable_.clean) state_ = State::closed;
}

void LogCore::fence_work() {
    if (state_ != State::ready || fence_wanted_ <= fence_pushed_) return;
    if (fence_pushed_ != first_live_lsn_ || live_.size() < 2) return; // one fence at a time
    std::size_t keep = 0;
    while (keep + 1 < live_.size() && live_[keep + 1].first_lsn <= fence_wanted_)
        ++keep;
    if (keep == 0) return; // no whole segment to let go
    const Lsn wanted = fence_wanted_;
    const std::uint64_t segment = live_[keep].segment;
    if (!push_control(FrameKind::fence, wanted, segment, true)) return;
    fence_pushed_ = wanted;
}

void LogCore::close_work() {
    if (state_ != State::closing || open_buffer_ || frame_head_ != frame_tail_) return;
    if (job_.step != Maintenance::Step::idle || super_step_ != SuperStep::idle) return;
    if (super_.clean) return;
    if (!live_.empty()) super_.end = live_.back().end;
    super_.clean = true;
    super_dirty_ = true;
    write_super();
}

// Spares and released segments: one job at a time.

void LogCore::maintain() {
    using Step = Maintenance::Step;
    if (job_.step == Step::idle && !choose_job()) return;
    if (!job_.submitted) submit_step();
}

bool LogCore::choose_job() {
    using Step = Maintenance::Step;
    const bool opened =
        state_ == State::ready || (state_ == State::opening && repair_ == Repair::segment);
    if (!opened) return false;
    if (const auto closed = std::find_if(
            spares_.begin(), spares_.end(), [](const Spare& spare) { return spare.file == 0; });
        closed != spares_.end()) {
        job_ = {.step = Step::reopen, .segment = closed->segment};
        job_.file = take_file();
        job_.name = segment_name(closed->segment);
        return true;
    }
    if (!leftovers_.empty()) {
        job_ = {.step = Step::unlink};
        job_.name = leftovers_.back();
        leftovers_.pop_back();
        return true;
    }
    const bool wanted = spares_.size() < options_.spares;
    if (wanted && options_.recycle && !released_.empty()) {
        start_recycle(take_released());
        return true;
    }
    if (released_.size() > (options_.recycle ? released_kept : 0)) {
        job_ = {.step = Step::unlink};
        job_.name = segment_name(take_released());
        return true;
    }
    if (!wanted || (disk_full_ && now_ns_ < space_retry_at_ns_)) return false;
    start_create();
    return true;
}

std::uint64_t LogCore::take_released() {
    PROMTACT_ASSERT(!released_.empty());
    const std::uint64_t segment = released_.front();
    released_.erase(released_.begin());
    return segment;
}

void LogCore::start_create() {
    job_ = {.step = Maintenance::Step::create, .segment = last_segment_ + 1};
    job_.file = take_file();
    job_.name = segment_name(job_.segment, true);
    job_.new_name = segment_name(job_.segment);
}

/// The old header is made zero before the file gets its new name: a file whose header names another
/// segment is never a legal sight. The frames stay; their salt is not the next one.
void LogCore::start_recycle(std::uint64_t segment) {
    job_ = {
        .step = Maintenance::Step::recycle_open, .recycled = true, .segment = last_segment_ + 1};
    job_.file = take_file();
    job_.name = segment_name(segment);
    job_.new_name = segment_name(job_.segment);
}

void LogCore::submit_step() {
    using Step = Maintenance::Step;
    IoOp op{.file = job_.file};
    switch (job_.step) {
    case Step::idle:
        return;
    case Step::unlink:
    case Step::abandon:
        op.kind = IoKind::unlink;
        op.name = job_.name;
        break;
    case Step::create:
        op.kind = IoKind::create;
        op.name = job_.name;
        break;
    case Step::reopen:
    case Step::recycle_open:
        op.kind = IoKind::open;
        op.name = job_.name;
        break;
    case Step::allocate:
        op.kind = IoKind::allocate;
        op.offset = segment_bytes_;
        break;
    case Step::zero: {
        const std::uint64_t end = job_.recycled ? block_bytes : segment_bytes_;
        op.kind = IoKind::write;
        op.offset = job_.offset;
        op.data = zeros_.first(
            static_cast<std::size_t>(std::min<std::uint64_t>(zeros_.size(), end - job_.offset)));
        break;
    }
    case Step::sync:
        op.kind = IoKind::sync_all; // of a whole file: not in the way of those that commit
        break;
    case Step::rename:
        op.kind = IoKind::rename;
        op.name = job_.name;
        op.new_name = job_.new_name;
        break;
    case Step::sync_dir:
        op.kind = IoKind::sync_dir;
        break;
    }
    job_.submitted = submit(Op::maintain, op);
}

/// True when the failure is dealt with: no space is no reason to stop, anything else is.
bool LogCore::on_step_failed(std::int64_t result) {
    using Step = Maintenance::Step;
    if (job_.step == Step::unlink || job_.step == Step::abandon) {
        if (result != -ENOENT) fail(static_cast<int>(-result), "removing " + job_.name);
        job_.step = Step::idle;
        return true;
    }
    const bool may_lack = job_.step == Step::allocate &&
                          (result == -EOPNOTSUPP || result == -EINVAL || result == -ENOSYS);
    if (may_lack) {
        job_.step = Step::zero; // writing allocates too
        return true;
    }
    if (out_of_space(result) &&
        (job_.step == Step::create || job_.step == Step::allocate || job_.step == Step::zero)) {
        disk_full_ = true;
        space_retry_at_ns_ = now_ns_ + options_.space_retry_ns;
        give_file(job_.file);
        job_.step = Step::abandon;
        return true;
    }
    fail(static_cast<int>(-result), "preparing " + job_.name);
    job_.step = Step::idle;
    return true;
}

void LogCore::on_step(std::int64_t result) {
    using Step = Maintenance::Step;
    job_.submitted = false;
    if (result < 0 && result != -EAGAIN && result != -EINTR) {
        on_step_failed(result);
        return;
    }
    switch (job_.step) {
    case Step::idle:
        return fail(EPROTO, "an answer without a question");
    case Step::unlink:
        disk_full_ = false;
        [[fallthrough]];
    case Step::abandon:
        job_.step = Step::idle;
        return;
    case Step::create:
        job_.step = Step::allocate;
        return;
    case Step::allocate:
    case Step::recycle_open:
        job_.step = Step::zero;
        return;
    case Step::zero: {
        const std::uint64_t end = job_.recycled ? block_bytes : segment_bytes_;
        const std::size_t asked =
            static_cast<std::size_t>(std::min<std::uint64_t>(zeros_.size(), end - job_.offset));
        bool short_seen = job_.rewrites > 0;
        if (judge_write(result, asked, job_.rewrites, short_seen) != Write::whole) return;
        job_.offset += asked;
        job_.rewrites = 0;
        if (job_.offset == end) job_.step = Step::sync;
        return;
    }
    case Step::sync:
        job_.step = Step::rename;
        return;
    case Step::rename:
        job_.step = Step::sync_dir;
        return;
    case Step::sync_dir:
    case Step::reopen:
        return finish_spare();
    }
    PROMTACT_UNREACHABLE();
}

void LogCore::finish_spare() {
    using Step = Maintenance::Step;
    if (job_.step == Step::reopen) {
        for (Spare& spare : spares_)
            if (spare.segment == job_.segment) spare.file = job_.file;
    } else {
        PROMTACT_ASSERT(job_.segment == last_segment_ + 1);
        spares_.push_back({.segment = job_.segment, .file = job_.file, .recycled = job_.recycled});
        last_segment_ = job_.segment;
        ++(job_.recycled ? stats_.spares_recycled : stats_.spares_made);
        disk_full_ = false;
    }
    job_.step = Step::idle;
}

} // namespace promtact::wal
