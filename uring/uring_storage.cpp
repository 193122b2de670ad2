// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/uring_storage.hpp>

namespace promtact::uring {
namespace {

constexpr std::uint32_t depth_max = 4096;

bool moves_bytes(IoKind kind) noexcept {
    return kind == IoKind::read || kind == IoKind::write;
}

bool is_sync(IoKind kind) noexcept {
    return kind == IoKind::sync_data || kind == IoKind::sync_all;
}

void signal(const UniqueFd& event_fd) {
    const std::uint64_t one = 1;
    if (event_fd) static_cast<void>(::write(event_fd.get(), &one, sizeof one) == sizeof one);
}

} // namespace

UringStorage::UringStorage(
    StorageDirectory directory, Ring ring, const UringStorageOptions& options, UniqueFd event_fd,
    bool arena_registered)
    : directory_(std::move(directory)), options_(options), event_fd_(std::move(event_fd)),
      arena_registered_(arena_registered), finished_(options.depth), ring_(std::move(ring)) {
    in_ring_.reserve(options.depth);
    ready_.reserve(options.depth);
}

Result<std::unique_ptr<UringStorage>>
UringStorage::open(const std::filesystem::path& path, const UringStorageOptions& options) {
    RingOptions ring_options = options.ring;
    ring_options.entries = std::max(ring_options.entries, options.depth);
    PROMTACT_TRY_ASSIGN(Ring ring, Ring::open(ring_options));
    return over(std::move(ring), path, options);
}

Result<std::unique_ptr<UringStorage>> UringStorage::over(
    Ring ring, const std::filesystem::path& path, const UringStorageOptions& options) {
    if (options.depth == 0 || options.depth > depth_max || options.depth > ring.room()) {
        return Error{
            Errc::invalid_argument, 0,
            "depth must be 1.." + std::to_string(std::min(depth_max, ring.room())) + ", not " +
                std::to_string(options.depth)};
    }
    PROMTACT_TRY_ASSIGN(
        StorageDirectory directory,
        StorageDirectory::open(
            path, {.direct = true, .read_only = options.read_only, .files = options.files}));
    if (!options.read_only) PROMTACT_TRY(directory.probe_direct());
    bool registered = false;
    if (!options.arena.empty()) {
        const std::array buffers{options.arena};
        const Result<void> taken = ring.register_buffers(buffers);
        if (!taken && !(options.allow_unregistered && taken.error().sys_errno == ENOMEM))
            return taken.error();
        registered = taken.has_value();
    }
    const std::vector<int> none(options.files, -1);
    PROMTACT_TRY(ring.register_files(none));
    UniqueFd event_fd;
    if (options.event_fd) {
        event_fd = UniqueFd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        if (!event_fd) return Error::from_errno(errno, "make an eventfd");
        PROMTACT_TRY(ring.register_eventfd(event_fd.get()));
    }
    return std::make_unique<UringStorage>(
        std::move(directory), std::move(ring), options, std::move(event_fd), registered);
}

StorageLimits UringStorage::limits() const {
    return {
        .align_memory = block_bytes,
        .align_offset = block_bytes,
        .atomic_bytes = directory_.atomic_bytes(),
        .depth = options_.depth,
        .direct = true};
}

bool UringStorage::in_arena(std::span<const std::byte> data) const noexcept {
    const std::byte* const begin = options_.arena.data();
    return arena_registered_ && data.data() >= begin &&
           data.data() + data.size() <= begin + options_.arena.size();
}

bool UringStorage::is_valid(const IoOp& op) const noexcept {
    if (directory_.file(op.file) < 0) return false;
    if (!moves_bytes(op.kind)) return true;
    const auto address = reinterpret_cast<std::uintptr_t>(op.data.data());
    return !op.data.empty() && op.data.size() <= 0x7fffffff && address % block_bytes == 0 &&
           op.data.size() % block_bytes == 0 && op.offset % block_bytes == 0 &&
           op.offset <= static_cast<std::uint64_t>(INT64_MAX) - op.data.size();
}

void UringStorage::answer(std::uint64_t id, std::int64_t result) {
    ready_.push_back({.id = id, .result = result});
    signal(event_fd_);
}

bool UringStorage::submit(const IoOp& op) {
    if (in_ring_.size() + inline_syncs_.size() + ready_.size() >= options_.depth) return false;
    const bool content = moves_bytes(op.kind) || is_sync(op.kind);
    if (broken_) {
        answer(op.id, -EIO);
    } else if (!content && op.kind != IoKind::sync_dir) {
        perform_name(op);
    } else if (content && !is_valid(op)) {
        answer(op.id, -EINVAL);
    } else if (options_.read_only && op.kind != IoKind::read) {
        answer(op.id, -EROFS);
    } else if (options_.inline_sync && op.kind == IoKind::sync_data) {
        inline_syncs_.push_back(op);
        signal(event_fd_);
    } else
        start(op);
    return true;
}

void UringStorage::perform_name(const IoOp& op) {
    ++other_calls_;
    const std::int64_t result = directory_.perform(op);
    const bool opened = result >= 0 && (op.kind == IoKind::create || op.kind == IoKind::open);
    if (opened) {
        const Result<void> updated = ring_.update_file(op.file, directory_.file(op.file));
        if (!updated) return answer(op.id, -EIO);
    }
    answer(op.id, result);
}

void UringStorage::start(const IoOp& op) {
    started_ = true;
    Operation operation{.registered_file = true, .file = static_cast<int>(op.file), .tag = op.id};
    switch (op.kind) {
    case IoKind::read:
        operation.kind = in_arena(op.data) ? OpKind::read_fixed : OpKind::read;
        break;
    case IoKind::write:
        operation.kind = in_arena(op.data) ? OpKind::write_fixed : OpKind::write;
        break;
    case IoKind::sync_data:
        operation.kind = OpKind::sync_data;
        break;
    case IoKind::sync_dir:
        operation.registered_file = false;
        operation.file = directory_.fd();
        [[fallthrough]];
    default:
        operation.kind = OpKind::sync_all;
        break;
    }
    if (moves_bytes(op.kind)) {
        operation.offset = op.offset;
        operation.data = op.data;
    }
    if (const Result<void> prepared = ring_.prepare(operation); !prepared) {
        give_up(prepared.error());
        return answer(op.id, -EIO);
    }
    in_ring_.push_back(op.id);
}

void UringStorage::give_up(Error cause) {
    if (!broken_) broken_ = std::move(cause);
    for (const std::uint64_t id : in_ring_)
        answer(id, -EIO);
    in_ring_.clear();
}

void UringStorage::run_inline_syncs() {
    for (const IoOp& op : std::exchange(inline_syncs_, {})) {
        ++other_calls_;
        const Result<void> synced = ring_.data_sync(directory_.file(op.file));
        const int sys_errno = synced ? 0 : synced.error().sys_errno;
        ready_.push_back({.id = op.id, .result = synced ? 0 : -(sys_errno != 0 ? sys_errno : EIO)});
    }
}

std::size_t UringStorage::take_ready(std::span<IoDone> done) {
    const std::size_t count = std::min(done.size(), ready_.size());
    std::copy_n(ready_.begin(), count, done.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

std::size_t UringStorage::take_finished(std::span<IoDone> done, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = std::find(in_ring_.begin(), in_ring_.end(), finished_[i].tag);
        PROMTACT_ASSERT(at != in_ring_.end());
        *at = in_ring_.back();
        in_ring_.pop_back();
        done[i] = {.id = finished_[i].tag, .result = finished_[i].result};
    }
    return count;
}

std::size_t UringStorage::poll(std::span<IoDone> done) {
    return wait(done, 0);
}

/// The descriptor is cleared after something was found, and what completed until then is looked for
/// once more: nobody sleeps beside an answer. A look that finds nothing leaves it alone when it was
/// just cleared, or when it was for handing over new requests; the next one clears it, since an
/// answer may be seen a moment before its signal.
std::size_t UringStorage::wait(std::span<IoDone> done, std::uint64_t timeout_ns) {
    const bool hands_over = std::exchange(started_, false);
    std::size_t count = look(done, timeout_ns);
    if (!event_fd_) return count;
    if (count == 0 && (event_clear_ || hands_over)) {
        event_clear_ = false;
        return 0;
    }
    std::uint64_t signals = 0;
    static_cast<void>(::read(event_fd_.get(), &signals, sizeof signals) > 0);
    ++other_calls_;
    const std::size_t more = look(done.subspan(count), 0);
    event_clear_ = more == 0;
    count += more;
    if (count == done.size()) signal(event_fd_); // there may be more
    return count;
}

std::size_t UringStorage::look(std::span<IoDone> done, std::uint64_t timeout_ns) {
    const bool waits = timeout_ns > 0 && ready_.empty() && inline_syncs_.empty();
    if (!broken_ && !waits && !in_ring_.empty())
        if (const Result<void> submitted = ring_.submit(); !submitted) give_up(submitted.error());
    run_inline_syncs();
    const std::size_t taken = take_ready(done);
    const std::span<IoDone> rest = done.subspan(taken);
    if (broken_ || rest.empty() || in_ring_.empty()) return taken;
    const std::span<Finished> room =
        std::span(finished_).first(std::min(rest.size(), finished_.size()));
    const auto limit = std::chrono::nanoseconds(
        static_cast<std::int64_t>(std::min<std::uint64_t>(timeout_ns, INT64_MAX)));
    const Result<std::size_t> got = waits ? ring_.wait(room, 1, limit) : ring_.peek(room);
    if (got) return taken + take_finished(rest, *got);
    if (got.error().code == Errc::timeout) return taken;
    give_up(got.error());
    return taken + take_ready(rest);
}

} // namespace promtact::uring
