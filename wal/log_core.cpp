// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <promtact/wal/log_core.hpp>

namespace promtact::wal {
namespace {

constexpr std::size_t control_buffer_bytes = 2 * block_bytes; // a segment header and one block

std::size_t data_buffers(const LogOptions& options) noexcept {
    return std::size_t{options.pipeline_depth} + 1;
}

} // namespace

std::size_t LogCore::arena_bytes(const LogOptions& options) noexcept {
    return data_buffers(options) * (block_bytes + options.frame_bytes_max) +
           control_buffers * control_buffer_bytes + super_slots * block_bytes +
           options.zero_chunk_bytes;
}

std::span<std::byte> LogCore::arena_part(std::size_t& at, std::size_t bytes) noexcept {
    const auto part = zeros_.subspan(at, bytes);
    at += bytes;
    return part;
}

LogCore::LogCore(Storage& storage, const LogOptions& options, std::span<std::byte> arena)
    : storage_(&storage), options_(options) {
    PROMTACT_ASSERT(options.pipeline_depth >= 1);
    PROMTACT_ASSERT(options.pipeline_depth <= 16);
    PROMTACT_ASSERT(options.syncs_max >= 1);
    PROMTACT_ASSERT(options.syncs_max <= 2);
    PROMTACT_ASSERT(options.spares >= 2);
    PROMTACT_ASSERT(options.spares <= 8);
    PROMTACT_ASSERT(options.frame_bytes_max >= block_bytes);
    PROMTACT_ASSERT(options.frame_bytes_max <= frame_blocks_max * block_bytes);
    PROMTACT_ASSERT(options.frame_bytes_max % block_bytes == 0);
    PROMTACT_ASSERT(options.zero_chunk_bytes >= block_bytes);
    PROMTACT_ASSERT(options.zero_chunk_bytes % block_bytes == 0);
    PROMTACT_ASSERT(options.segment_bytes >= segment_bytes_min);
    PROMTACT_ASSERT(options.segment_bytes <= segment_bytes_max);
    PROMTACT_ASSERT(options.segment_bytes % block_bytes == 0);
    PROMTACT_ASSERT(options.first_lsn >= 1);
    PROMTACT_ASSERT(arena.size() >= arena_bytes(options));
    zeros_ = arena; // until the parts are cut off
    std::size_t at = 0;
    for (std::size_t i = 0; i < data_buffers(options); ++i)
        buffers_.push_back(arena_part(at, block_bytes + options.frame_bytes_max));
    for (std::size_t i = 0; i < control_buffers; ++i)
        buffers_.push_back(arena_part(at, control_buffer_bytes));
    buffers_free_ = (std::uint64_t{1} << buffers_.size()) - 1;
    super_buffer_ = arena_part(at, super_slots * block_bytes);
    zeros_ = arena_part(at, options.zero_chunk_bytes);
    std::memset(zeros_.data(), 0, zeros_.size());
    outstanding_.reserve(64);
    scan_.emplace(storage, options.scan);
}

std::uint64_t LogCore::record_bytes_max() const noexcept {
    if (layout_ == Layout::fixed) return record_bytes;
    // A segment keeps its first block for the header and its last for the seal.
    const std::uint64_t frame =
        std::min<std::uint64_t>(options_.frame_bytes_max, segment_bytes_ - 2 * block_bytes);
    const std::uint64_t blocks = frame / block_bytes;
    const std::uint64_t table = blocks <= 16 ? 64 : blocks <= 64 ? 256 : 1024;
    return frame - frame_header_bytes - table - record_header_bytes;
}

bool LogCore::submit(Op op, IoOp request, std::uint64_t number) {
    request.id = next_id_;
    if (!storage_->submit(request)) return false;
    outstanding_.push_back({.id = next_id_++, .op = op, .number = number});
    return true;
}

void LogCore::fail(int sys_errno, std::string context) {
    if (state_ == State::poisoned) return;
    error_ = Error::from_errno(sys_errno, std::move(context));
    state_ = state_ == State::opening ? State::refused : State::poisoned;
}

void LogCore::on_done(const IoDone& done) {
    const auto found =
        std::find_if(outstanding_.begin(), outstanding_.end(), [&](const Outstanding& entry) {
            return entry.id == done.id;
        });
    if (found == outstanding_.end()) {
        return fail(EPROTO, "the storage answered a request that is not in flight");
    }
    const Outstanding entry = *found;
    outstanding_.erase(found);
    // After the first error answers are only counted: what they say is promised to nobody.
    if (state_ == State::poisoned && entry.op != Op::read) return;
    if (state_ == State::refused) return;
    switch (entry.op) {
    case Op::frame:
        return on_frame(entry.number, done.result);
    case Op::sync:
        return on_sync(entry.number, done.result);
    case Op::super:
        return on_super(done.result);
    case Op::maintain:
        return on_step(done.result);
    case Op::repair:
        return on_repair(done.result);
    case Op::read:
        return on_read(done.result);
    }
    PROMTACT_UNREACHABLE();
}

LogCore::Write LogCore::judge_write(
    std::int64_t result, std::size_t bytes, std::uint32_t& rewrites, bool& short_seen) {
    if (result == static_cast<std::int64_t>(bytes)) return Write::whole;
    const bool again = result == -EAGAIN || result == -EINTR;
    const bool is_short = result >= 0 && result < static_cast<std::int64_t>(bytes);
    if (result > static_cast<std::int64_t>(bytes)) {
        fail(EPROTO, "the storage says it wrote more than it was given");
        return Write::fatal;
    }
    if ((!again && !is_short) || rewrites >= rewrites_max || (is_short && short_seen)) {
        fail(result < 0 ? static_cast<int>(-result) : EIO, "writing the log");
        return Write::fatal;
    }
    // Nothing of it was acknowledged, so all of it is written again, at the same place.
    short_seen = short_seen || is_short;
    ++rewrites;
    ++stats_.rewrites;
    return Write::again;
}

void LogCore::pump(std::uint64_t now_ns, Group group) {
    now_ns_ = std::max(now_ns_, now_ns);
    if (scan_) {
        scan_->step();
        if (!scan_->finished()) return;
        on_scanned();
    }
    std::array<IoDone, 16> done{};
    for (std::size_t rounds = 0; rounds < 1024; ++rounds) {
        const std::size_t count = storage_->poll(done);
        for (std::size_t i = 0; i < count; ++i)
            on_done(done[i]);
        if (count < done.size()) break;
    }
    if (state_ == State::opening) repair();
    if (state_ == State::ready || state_ == State::closing) commit(group);
    if (state_ != State::poisoned && state_ != State::refused) {
        fence_work();
        write_super();
        maintain();
        close_work();
    }
    read_work();
}

Result<void> LogCore::writable() const {
    if (state_ == State::ready) return {};
    if (state_ == State::poisoned) {
        return Error{Errc::poisoned, error_.sys_errno, "the log stopped: " + error_.context};
    }
    return Error{Errc::busy, 0, "not open"};
}

Error LogCore::full() {
    return Error{Errc::out_of_range, EOVERFLOW, "the log is full: " + lsn_last_words()};
}

Result<Lsn> LogCore::append(std::span<const std::byte> payload, RecordTag tag) {
    if (state_ != State::ready) {
        PROMTACT_TRY(writable());
    }
    if (payload.size() > record_bytes_max() ||
        (layout_ == Layout::fixed && payload.size() != record_bytes)) {
        return Error{
            Errc::invalid_argument, 0,
            "a record of " + std::to_string(payload.size()) + " bytes does not fit; the limit is " +
                std::to_string(record_bytes_max())};
    }
    if (next_lsn_ > lsn_last) return full();
    if (!open_buffer_) {
        PROMTACT_TRY(open_frame(payload.size()));
    }
    if (!builder_.append(payload, tag)) {
        close_frame();
        PROMTACT_TRY(open_frame(payload.size()));
        const bool fits = builder_.append(payload, tag);
        PROMTACT_ASSERT(fits);
    }
    PROMTACT_ASSERT(next_lsn_ <= lsn_last);
    return next_lsn_++;
}

Result<Lsn> LogCore::truncate_suffix(Lsn keep_through) {
    PROMTACT_TRY(writable());
    if (keep_through >= next_lsn_ || keep_through + 1 < first_live_lsn_) {
        return Error{
            Errc::out_of_range, 0,
            "cannot keep records through LSN " + std::to_string(keep_through)};
    }
    if (next_lsn_ > lsn_last) return full();
    close_frame();
    const Lsn own = next_lsn_;
    PROMTACT_TRY(push_control(FrameKind::trunc_suffix, keep_through, 0, false));
    add_void(voids_, {.first = keep_through + 1, .last = own});
    return own;
}

Result<void> LogCore::release_prefix(Lsn first_live) {
    PROMTACT_TRY(writable());
    if (first_live > durable_ + 1) {
        return Error{Errc::out_of_range, 0, "records that are not durable cannot be released"};
    }
    fence_wanted_ = std::max(fence_wanted_, first_live);
    return {};
}

std::size_t LogCore::take_done(std::span<AppendDone> out) noexcept {
    std::size_t count = 0;
    const auto report = [&](Lsn through, AppendDone::Outcome outcome) {
        if (through <= reported_ || count == out.size()) return;
        out[count++] = {.first = reported_ + 1, .last = through, .outcome = outcome};
        reported_ = through;
    };
    report(durable_, AppendDone::Outcome::durable);
    if (state_ != State::poisoned || reported_ < durable_) return count;
    report(submitted_, AppendDone::Outcome::indeterminate);
    if (reported_ >= submitted_) report(next_lsn_ - 1, AppendDone::Outcome::failed);
    return count;
}

bool LogCore::idle() const noexcept {
    return state_ == State::ready && outstanding_.empty() && only_watermarks() && !open_buffer_ &&
           !super_dirty_ && super_step_ == SuperStep::idle &&
           job_.step == Maintenance::Step::idle && leftovers_.empty() &&
           released_.size() <= (options_.recycle ? released_kept : 0) &&
           (spares_.size() >= options_.spares || disk_full_) &&
           reading_.step == Reading::Step::idle;
}

/// A written watermark waits for the next record's sync.
bool LogCore::only_watermarks() const noexcept {
    for (std::uint64_t number = frame_head_; number < frame_tail_; ++number) {
        const Frame& queued = frames_[number % frames_max];
        if (queued.kind != FrameKind::watermark) return false;
        if (queued.state != Frame::State::written) return false;
    }
    return true;
}

std::uint64_t LogCore::deadline_ns() const noexcept {
    std::uint64_t deadline = ~std::uint64_t{0};
    if (state_ != State::ready) return deadline;
    if (hinted_ < durable_ && !open_buffer_) {
        deadline = idle_since_ns_ + options_.watermark_delay_ns;
    }
    if (disk_full_) deadline = std::min(deadline, space_retry_at_ns_);
    return deadline;
}

void LogCore::close() noexcept {
    if (state_ == State::ready) state_ = State::closing;
}

std::uint32_t LogCore::take_file() noexcept {
    for (std::uint32_t file = 1; file < files_max; ++file) {
        if ((files_used_ >> file & 1U) != 0) continue;
        files_used_ |= 1U << file;
        return file;
    }
    PROMTACT_UNREACHABLE();
}

void LogCore::give_file(std::uint32_t file) noexcept {
    PROMTACT_ASSERT(file > 0);
    PROMTACT_ASSERT((files_used_ >> file & 1U) != 0);
    files_used_ &= ~(1U << file);
}

} // namespace promtact::wal
