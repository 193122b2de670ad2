// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/wal/device_storage.hpp>

namespace promtact::wal {
namespace {

constexpr std::uint32_t align_offset = 512;
constexpr std::uint32_t files_max = 1024;
constexpr std::size_t name_bytes_max = 255;
constexpr std::uint64_t size_max = std::uint64_t{1} << 62;

bool is_component(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_bytes_max && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

bool is_aligned(const IoOp& op) noexcept {
    return !op.data.empty() && op.data.size() % align_offset == 0 &&
           op.offset % align_offset == 0 && op.data.size() <= 0x7fffffff && op.offset <= size_max;
}

} // namespace

DeviceStorage::DeviceStorage(std::unique_ptr<Device> device, std::uint32_t depth)
    : device_(std::move(device)), depth_(depth) {
    PROMTACT_ASSERT(device_ != nullptr);
    PROMTACT_ASSERT(depth_ > 0);
    queue_.reserve(depth_);
}

Result<std::unique_ptr<DeviceStorage>>
DeviceStorage::open(std::unique_ptr<Device> device, std::uint32_t depth) {
    auto storage = std::make_unique<DeviceStorage>(std::move(device), depth);
    PROMTACT_TRY(storage->replay());
    return storage;
}

std::unique_ptr<Device> DeviceStorage::release() {
    queue_.clear();
    return std::move(device_);
}

StorageLimits DeviceStorage::limits() const {
    return {
        .align_memory = 1,
        .align_offset = align_offset,
        .atomic_bytes = page_bytes,
        .depth = depth_,
        .direct = false};
}

bool DeviceStorage::submit(const IoOp& op) {
    if (queue_.size() == depth_) return false;
    queue_.push_back(op);
    return true;
}

std::size_t DeviceStorage::poll(std::span<IoDone> done) {
    const std::size_t count = std::min(done.size(), queue_.size());
    for (std::size_t i = 0; i < count; ++i)
        done[i] = {.id = queue_[i].id, .result = perform(queue_[i])};
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

std::size_t DeviceStorage::wait(std::span<IoDone> done, std::uint64_t /*timeout_ns*/) {
    return poll(done); // whatever is in flight completes now
}

std::uint32_t DeviceStorage::inode_of(std::uint32_t file) const noexcept {
    return file < open_files_.size() ? open_files_[file] : no_inode;
}

void DeviceStorage::bind(std::uint32_t file, std::uint32_t inode) {
    PROMTACT_ASSERT(file < files_max);
    if (file >= open_files_.size()) open_files_.resize(file + 1, no_inode);
    const std::uint32_t before = std::exchange(open_files_[file], inode);
    if (before != no_inode) drop_link(before);
}

std::int64_t DeviceStorage::perform(const IoOp& op) {
    if (!device_) return -EBADF;
    switch (op.kind) {
    case IoKind::read:
        return read(op);
    case IoKind::list:
        return list(op);
    case IoKind::create:
    case IoKind::open:
        return open_file(op);
    case IoKind::rename:
    case IoKind::unlink:
        return change_name(op);
    case IoKind::write:
    case IoKind::allocate:
    case IoKind::truncate:
        return change_content(op);
    case IoKind::sync_data:
    case IoKind::sync_all:
        return inode_of(op.file) == no_inode ? -EINVAL : sync();
    case IoKind::sync_dir:
        return sync();
    }
    PROMTACT_UNREACHABLE();
}

std::int64_t DeviceStorage::open_file(const IoOp& op) {
    if (!is_component(op.name) || op.file >= files_max) return -EINVAL;
    auto found = names_.find(op.name);
    if (found == names_.end()) {
        if (op.kind == IoKind::open) return -ENOENT;
        const std::int64_t failed =
            record({.kind = JournalKind::create, .inode = last_inode_ + 1, .name = op.name});
        if (failed != 0) return failed;
        found = names_.find(op.name);
    }
    const std::uint32_t inode = found->second;
    bind(op.file, inode);
    return static_cast<std::int64_t>(files_.at(inode).size);
}

std::int64_t DeviceStorage::change_name(const IoOp& op) {
    const bool rename = op.kind == IoKind::rename;
    if (!is_component(op.name) || (rename && !is_component(op.new_name))) return -EINVAL;
    if (names_.find(op.name) == names_.end()) return -ENOENT;
    if (!rename) return record({.kind = JournalKind::unlink, .name = op.name});
    if (op.name == op.new_name) return 0;
    return record({.kind = JournalKind::rename, .name = op.name, .new_name = op.new_name});
}

std::int64_t DeviceStorage::change_content(const IoOp& op) {
    const std::uint32_t inode = inode_of(op.file);
    if (inode == no_inode) return -EINVAL;
    if (op.kind == IoKind::write) {
        if (!is_aligned(op)) return -EINVAL;
        const bool zeros = std::all_of(
            op.data.begin(), op.data.end(), [](std::byte byte) { return byte == std::byte{0}; });
        const auto bytes = static_cast<std::uint32_t>(op.data.size());
        const std::int64_t failed = record(
            {.kind = zeros ? JournalKind::zeros : JournalKind::write,
             .inode = inode,
             .bytes = bytes,
             .offset = op.offset,
             .payload = zeros ? std::span<const std::byte>{} : op.data});
        return failed != 0 ? failed : bytes;
    }
    if (op.offset > size_max) return -EINVAL;
    if (op.kind == IoKind::allocate && files_.at(inode).size >= op.offset) return 0;
    return record({.kind = JournalKind::resize, .inode = inode, .offset = op.offset});
}

std::int64_t DeviceStorage::read(const IoOp& op) const {
    const std::uint32_t inode = inode_of(op.file);
    if (inode == no_inode || !is_aligned(op)) return -EINVAL;
    const File& file = files_.at(inode);
    if (op.offset >= file.size) return 0;
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(op.data.size(), file.size - op.offset));
    for (std::size_t done = 0; done < bytes;) {
        const std::uint64_t at = op.offset + done;
        const auto skip = static_cast<std::size_t>(at % page_bytes);
        const std::size_t piece = std::min(page_bytes - skip, bytes - done);
        const auto page = file.pages.find(at / page_bytes);
        if (page == file.pages.end()) {
            std::memset(op.data.data() + done, 0, piece);
        } else {
            std::memcpy(op.data.data() + done, page->second.data() + skip, piece);
        }
        done += piece;
    }
    return static_cast<std::int64_t>(bytes);
}

std::int64_t DeviceStorage::list(const IoOp& op) const {
    std::size_t used = 0;
    std::uint64_t index = 0;
    for (const auto& [name, inode] : names_) {
        if (index++ < op.offset) continue;
        if (op.data.size() - used < name.size() + 2) break;
        op.data[used] = static_cast<std::byte>(DirectoryEntry::regular);
        std::memcpy(op.data.data() + used + 1, name.c_str(), name.size() + 1);
        used += name.size() + 2;
    }
    return static_cast<std::int64_t>(used);
}

std::int64_t DeviceStorage::sync() {
    if (broken_errno_ != 0) return -broken_errno_;
    const Result<void> synced = device_->sync();
    if (synced) {
        durable_bytes_ = journal_bytes_;
        return 0;
    }
    broken_errno_ = synced.error().sys_errno != 0 ? synced.error().sys_errno : EIO;
    return -broken_errno_;
}

} // namespace promtact::wal
