// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/file_storage.hpp>
#include <promtact/base/sys.hpp>

namespace promtact {
namespace {

constexpr std::uint32_t direct_alignment = 4096;

std::int64_t sync_file(int fd, IoKind kind) {
    int rc = 0;
    do {
        rc = kind == IoKind::sync_data ? sys().fdatasync(fd) : sys().fsync(fd);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : -std::int64_t{errno};
}

bool is_transfer(IoKind kind) noexcept {
    return kind == IoKind::read || kind == IoKind::write;
}

} // namespace

std::int64_t transfer_at(int fd, IoKind kind, std::span<std::byte> data, std::uint64_t offset) {
    PROMTACT_ASSERT(is_transfer(kind));
    ssize_t moved = 0;
    do {
        const auto at = static_cast<off_t>(offset);
        moved = kind == IoKind::read ? sys().pread(fd, data.data(), data.size(), at)
                                     : sys().pwrite(fd, data.data(), data.size(), at);
    } while (moved < 0 && errno == EINTR);
    return moved < 0 ? -std::int64_t{errno} : moved;
}

FileStorage::FileStorage(
    StorageDirectory directory, const FileStorageOptions& options, UniqueFd event_fd)
    : directory_(std::move(directory)), depth_(options.depth), event_fd_(std::move(event_fd)) {
    PROMTACT_ASSERT(depth_ > 0);
    queue_.reserve(depth_);
}

Result<std::unique_ptr<FileStorage>>
FileStorage::open(const std::filesystem::path& path, const FileStorageOptions& options) {
    using Direct = FileStorageOptions::Direct;
    StorageDirectory::Options where{
        .direct = options.direct != Direct::off,
        .read_only = options.read_only,
        .files = options.files};
    PROMTACT_TRY_ASSIGN(StorageDirectory directory, StorageDirectory::open(path, where));
    if (where.direct && !options.read_only) {
        const Result<void> probed = directory.probe_direct();
        const bool fall_back = !probed && probed.error().code == Errc::unsupported &&
                               options.direct == Direct::preferred;
        if (!probed && !fall_back) return probed.error();
        if (fall_back) {
            where.direct = false;
            PROMTACT_TRY_ASSIGN(directory, StorageDirectory::open(path, where));
        }
    }
    UniqueFd event_fd;
    if (options.event_fd) {
        event_fd = UniqueFd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
        if (!event_fd) return Error::from_errno(errno, "make an eventfd");
    }
    return std::make_unique<FileStorage>(std::move(directory), options, std::move(event_fd));
}

StorageLimits FileStorage::limits() const {
    const bool direct = directory_.direct();
    return {
        .align_memory = direct ? direct_alignment : 1,
        .align_offset = direct ? direct_alignment : 1,
        .atomic_bytes = directory_.atomic_bytes(),
        .depth = depth_,
        .direct = direct};
}

bool FileStorage::submit(const IoOp& op) {
    if (queue_.size() == depth_) return false;
    queue_.push_back(op);
    if (event_fd_) {
        const std::uint64_t one = 1;
        static_cast<void>(::write(event_fd_.get(), &one, sizeof one) == sizeof one);
    }
    return true;
}

bool FileStorage::is_valid(const IoOp& op) const noexcept {
    if (!is_transfer(op.kind)) return true;
    const StorageLimits limits = this->limits();
    const auto address = reinterpret_cast<std::uintptr_t>(op.data.data());
    return !op.data.empty() && address % limits.align_memory == 0 &&
           op.data.size() % limits.align_offset == 0 && op.offset % limits.align_offset == 0 &&
           op.offset <= static_cast<std::uint64_t>(INT64_MAX) - op.data.size();
}

std::int64_t FileStorage::perform(const IoOp& op) {
    const bool content =
        is_transfer(op.kind) || op.kind == IoKind::sync_data || op.kind == IoKind::sync_all;
    if (!content) return directory_.perform(op);
    const int fd = directory_.file(op.file);
    if (fd < 0 || !is_valid(op)) return -EINVAL;
    if (op.kind != IoKind::read && directory_.read_only()) return -EROFS;
    return is_transfer(op.kind) ? transfer_at(fd, op.kind, op.data, op.offset)
                                : sync_file(fd, op.kind);
}

std::size_t FileStorage::poll(std::span<IoDone> done) {
    const std::size_t count = std::min(done.size(), queue_.size());
    for (std::size_t i = 0; i < count; ++i)
        done[i] = {.id = queue_[i].id, .result = perform(queue_[i])};
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    if (event_fd_ && queue_.empty()) {
        std::uint64_t signals = 0;
        static_cast<void>(::read(event_fd_.get(), &signals, sizeof signals) > 0);
    }
    return count;
}

std::size_t FileStorage::wait(std::span<IoDone> done, std::uint64_t /*timeout_ns*/) {
    return poll(done); // whatever is in flight completes now
}

} // namespace promtact
