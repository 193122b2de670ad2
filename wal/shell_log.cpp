// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/wal/log.hpp>

#include "shell_flusher_internal.hpp"

namespace promtact::wal {
namespace {

Error error_of(AppendDone::Outcome outcome, Lsn lsn, const Error& cause) {
    PROMTACT_ASSERT(outcome != AppendDone::Outcome::durable);
    const std::string why = ": " + cause.context;
    if (outcome == AppendDone::Outcome::failed) {
        return {Errc::poisoned, cause.sys_errno, "record " + std::to_string(lsn) + " failed" + why};
    }
    return {
        Errc::indeterminate, cause.sys_errno,
        "record " + std::to_string(lsn) + " was in flight" + why};
}

} // namespace

// --- the flusher's side of appends

Error Log::Flusher::poison_error() const {
    const Error& first = core_->poison();
    return Error{Errc::poisoned, first.sys_errno, "the log stopped: " + describe(first)};
}

Result<Lsn>
Log::Flusher::await(std::unique_lock<std::mutex>& lock, Lsn lsn, BlockedAppend& blocked) {
    const Bedrooms::Word& bed = bedrooms_.of(entries_.back().group);
    lock.unlock();
    const AppendDone::Outcome outcome = blocked.wait(bed);
    if (outcome == AppendDone::Outcome::durable) return lsn;
    lock.lock();
    return error_of(outcome, lsn, poison_error());
}

Result<Lsn> Log::Flusher::append(
    std::span<const std::byte> payload, RecordTag tag, BlockedAppend* blocked, Callback callback,
    std::chrono::nanoseconds room_timeout) {
    const auto end = std::chrono::steady_clock::now() + room_timeout;
    std::unique_lock lock(mutex_);
    for (;;) {
        if (stopping_) return Error{Errc::refused, 0, "the log is closing"};
        const bool crowded = entries_.size() >= config_.waiters_max;
        Result<Lsn> lsn = crowded ? Result<Lsn>(Error{Errc::busy, 0, "too many appends wait"})
                                  : core_->append(payload, tag);
        if (lsn) {
            entries_.push_back({*lsn, core_->group(), blocked, std::move(callback)});
            const bool complete = ++arrived_ == gathering_;
            if (std::exchange(resting_, false) || complete) work_.notify_one();
            if (blocked == nullptr) return lsn;
            return await(lock, *lsn, *blocked);
        }
        const bool full = lsn.error().code == Errc::busy;
        if (!full || room_timeout.count() <= 0) return lsn;
        if (std::exchange(resting_, false)) work_.notify_one();
        if (event_.wait_until(lock, end) == std::cv_status::timeout)
            return Error{Errc::timeout, 0, "no room in the log within the time given"};
    }
}

Result<Lsn> Log::Flusher::truncate_suffix(Lsn keep_through, BlockedAppend& blocked) {
    std::unique_lock lock(mutex_);
    PROMTACT_TRY_ASSIGN(const Lsn lsn, core_->truncate_suffix(keep_through));
    entries_.push_back({lsn, core_->group(), &blocked, {}});
    if (std::exchange(resting_, false)) work_.notify_one();
    return await(lock, lsn, blocked);
}

Result<void> Log::Flusher::release_prefix(Lsn first_live) {
    const std::lock_guard lock(mutex_);
    PROMTACT_TRY(core_->release_prefix(first_live));
    if (std::exchange(resting_, false)) work_.notify_one();
    return {};
}

Result<LogCore::FrameRead> Log::Flusher::read_frame(Lsn from, std::span<std::byte> buffer) {
    std::unique_lock lock(mutex_);
    if (ended_) return Error{Errc::refused, 0, "the log is closed"};
    PROMTACT_TRY(core_->start_read(from, buffer));
    if (std::exchange(resting_, false)) work_.notify_one();
    for (;;) {
        if (auto read = core_->take_read()) return std::move(*read);
        event_.wait(lock);
    }
}

// --- the public face

Log::Log(std::unique_ptr<Flusher> flusher) : flusher_(std::move(flusher)) {}
Log::~Log() = default;

Result<std::unique_ptr<Log>>
Log::open(const std::filesystem::path& directory, const LogConfig& config) {
    LogConfig complete = config;
    PROMTACT_TRY_ASSIGN(complete.log, completed(config.log));
    PROMTACT_TRY_ASSIGN(
        UniqueFd lock, enter_directory(directory, config.log.open, config.lock_wait));
    auto flusher = std::make_unique<Flusher>(directory, complete, std::move(lock));
    PROMTACT_TRY(flusher->start());
    return std::make_unique<Log>(std::move(flusher));
}

Result<std::unique_ptr<Log>> Log::open(MakeStorage make, const LogConfig& config) {
    PROMTACT_ASSERT(make != nullptr);
    LogConfig complete = config;
    PROMTACT_TRY_ASSIGN(complete.log, completed(config.log));
    auto flusher = std::make_unique<Flusher>(std::move(make), complete);
    PROMTACT_TRY(flusher->start());
    return std::make_unique<Log>(std::move(flusher));
}

Result<Lsn> Log::append(std::span<const std::byte> payload, RecordTag tag, Callback callback) {
    return flusher_->append(payload, tag, nullptr, std::move(callback), {});
}

Result<Lsn> Log::append_for(
    std::span<const std::byte> payload, RecordTag tag, Callback callback,
    std::chrono::nanoseconds timeout) {
    return flusher_->append(payload, tag, nullptr, std::move(callback), timeout);
}

Result<Lsn> Log::append_durable(
    std::span<const std::byte> payload, RecordTag tag, std::chrono::nanoseconds room_timeout) {
    BlockedAppend blocked;
    return flusher_->append(payload, tag, &blocked, {}, room_timeout);
}

Result<Lsn> Log::truncate_suffix(Lsn keep_through) {
    BlockedAppend blocked;
    return flusher_->truncate_suffix(keep_through, blocked);
}

Result<void> Log::release_prefix(Lsn first_live) {
    return flusher_->release_prefix(first_live);
}

Result<void> Log::read(Lsn from, Lsn through, const std::function<void(const RecordView&)>& sink) {
    const std::lock_guard one(flusher_->reading);
    PROMTACT_TRY_ASSIGN(
        uring::AlignedBuffer memory,
        uring::AlignedBuffer::allocate(1, frame_blocks_max * block_bytes));
    const std::vector<VoidRange> voids =
        flusher_->with_core([](const LogCore& core) { return core.voids(); });
    const Layout layout = flusher_->with_core([](const LogCore& core) { return core.layout(); });
    const auto is_void = [&](Lsn lsn) {
        return std::any_of(voids.begin(), voids.end(), [&](const VoidRange& range) {
            return lsn >= range.first && lsn <= range.last;
        });
    };
    for (Lsn next = from; next <= through;) {
        PROMTACT_TRY_ASSIGN(
            const LogCore::FrameRead read, flusher_->read_frame(next, memory.all()));
        RecordCursor cursor(read.frame, read.header, layout);
        RecordView record;
        Lsn last = next;
        while (cursor.next(record)) {
            last = std::max(last, record.lsn);
            if (record.lsn >= next && record.lsn <= through && !is_void(record.lsn)) sink(record);
        }
        next = last + 1;
    }
    return {};
}

Lsn Log::durable() const {
    return flusher_->with_core([](const LogCore& core) { return core.durable(); });
}
Lsn Log::last() const {
    return flusher_->with_core([](const LogCore& core) { return core.last(); });
}
Lsn Log::first_live() const {
    return flusher_->with_core([](const LogCore& core) { return core.first_live(); });
}
LogStats Log::stats() const {
    return flusher_->with_core([](const LogCore& core) { return core.stats(); });
}
std::optional<Error> Log::poison() const {
    return flusher_->with_core([](const LogCore& core) {
        return core.poisoned() ? std::optional<Error>(core.poison()) : std::nullopt;
    });
}
const ScanReport& Log::report() const noexcept {
    return flusher_->report();
}
Engine Log::engine() const noexcept {
    return flusher_->engine();
}
const std::vector<EngineRefusal>& Log::refusals() const noexcept {
    return flusher_->refusals();
}
std::uint64_t Log::record_bytes_max() const {
    return flusher_->with_core([](const LogCore& core) { return core.record_bytes_max(); });
}
Result<void> Log::close() {
    return flusher_->stop();
}

} // namespace promtact::wal
