// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/block_device.hpp>
#include <promtact/base/directory_owner.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/storage_directory.hpp>
#include <promtact/base/sys.hpp>

namespace promtact {
namespace {

constexpr std::uint32_t files_limit = 1024;
constexpr mode_t file_mode = 0640;
constexpr std::size_t name_bytes_max = 255;

// A system call's answer as 0 or -errno, asked again while a signal interrupts it.
template <class Call>
std::int64_t result_of(Call&& call) {
    int rc = 0;
    do {
        rc = call();
    } while (rc < 0 && errno == EINTR);
    return rc < 0 ? -std::int64_t{errno} : 0;
}

bool is_component(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_bytes_max && name != "." && name != ".." &&
           name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

// A regular file with one link: nothing else is a file of a storage.
bool is_plain_file(const struct stat& status) noexcept {
    return S_ISREG(status.st_mode) && status.st_nlink == 1;
}

std::uint32_t atomic_bytes_below(int directory) {
    const Result<FileLocation> location = locate(directory);
    const bool known = location && location->device.physical_sector_bytes >= 512;
    return known ? location->device.physical_sector_bytes : 512;
}

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

} // namespace

StorageDirectory::StorageDirectory(
    UniqueFd directory, const Options& options, std::uint32_t atomic_bytes)
    : directory_(std::move(directory)), options_(options), atomic_bytes_(atomic_bytes),
      files_(options.files) {
    PROMTACT_ASSERT(options.files > 0 && options.files <= files_limit);
}

Result<StorageDirectory>
StorageDirectory::open(const std::filesystem::path& path, const Options& options) {
    UniqueFd directory{sys().open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
    if (!directory) return Error::from_errno(errno, "open directory " + path.string());
    const std::uint32_t atomic_bytes = atomic_bytes_below(directory.get());
    return StorageDirectory{std::move(directory), options, atomic_bytes};
}

int StorageDirectory::file(std::uint32_t number) const noexcept {
    return number < files_.size() ? files_[number].get() : -1;
}

Result<void> StorageDirectory::probe_direct() const {
    const int fd =
        sys().openat(directory_.get(), ".", O_RDWR | O_TMPFILE | O_DIRECT | O_CLOEXEC, file_mode);
    if (fd >= 0) {
        const UniqueFd probe{fd};
        return {};
    }
    if (errno == EINVAL)
        return Error{Errc::unsupported, EINVAL, "this filesystem does not support O_DIRECT"};
    if (errno == EOPNOTSUPP) return {}; // no nameless files here; open will tell
    return Error::from_errno(errno, "probe direct I/O");
}

std::int64_t StorageDirectory::perform(const IoOp& op) {
    const bool changes = op.kind != IoKind::open && op.kind != IoKind::list;
    if (changes && options_.read_only) return -EROFS;
    switch (op.kind) {
    case IoKind::create:
        return open_file(op, true);
    case IoKind::open:
        return open_file(op, false);
    case IoKind::rename:
        return rename(op);
    case IoKind::unlink: {
        if (!is_component(op.name)) return -EINVAL;
        const std::string name(op.name);
        kill_point();
        return result_of([&] { return sys().unlinkat(directory_.get(), name.c_str(), 0); });
    }
    case IoKind::sync_dir:
        kill_point();
        return result_of([&] { return sys().fsync(directory_.get()); });
    case IoKind::allocate:
    case IoKind::truncate:
        return resize(op);
    case IoKind::list:
        return list(op);
    case IoKind::read:
    case IoKind::write:
    case IoKind::sync_data:
    case IoKind::sync_all:
        break;
    }
    PROMTACT_UNREACHABLE();
}

std::int64_t StorageDirectory::open_file(const IoOp& op, bool create) {
    if (!is_component(op.name) || op.file >= files_.size()) return -EINVAL;
    // Not blocking: a pipe of that name must not stop us.
    int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    flags |= options_.read_only ? O_RDONLY : O_RDWR;
    if (options_.direct) flags |= O_DIRECT;
    const std::string name(op.name);
    kill_point();
    int opened = -1;
    if (create) {
        opened = open_or_make(directory_.get(), name.c_str(), {.flags = flags, .mode = file_mode});
        if (opened < 0) return opened;
    } else {
        const std::int64_t failed = result_of(
            [&] { return opened = sys().openat(directory_.get(), name.c_str(), flags, 0); });
        if (failed != 0) return failed;
    }
    UniqueFd fd{opened};
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return -errno;
    if (!is_plain_file(status)) return -ELOOP;
    files_[op.file] = std::move(fd);
    return status.st_size;
}

std::int64_t StorageDirectory::rename(const IoOp& op) {
    if (!is_component(op.name) || !is_component(op.new_name)) return -EINVAL;
    const std::string name(op.name);
    const std::string new_name(op.new_name);
    kill_point();
    return result_of([&] {
        return sys().renameat(directory_.get(), name.c_str(), directory_.get(), new_name.c_str());
    });
}

std::int64_t StorageDirectory::resize(const IoOp& op) {
    const int fd = file(op.file);
    if (fd < 0 || op.offset > static_cast<std::uint64_t>(INT64_MAX)) return -EINVAL;
    const auto size = static_cast<off_t>(op.offset);
    kill_point();
    if (op.kind == IoKind::truncate) return result_of([&] { return sys().ftruncate(fd, size); });
    if (size == 0) return 0;
    const std::int64_t reserved = result_of([&] { return sys().fallocate(fd, 0, 0, size); });
    if (reserved != -EOPNOTSUPP) return reserved;
    // Without reservation only the size can be had; a full disk then shows when it is written.
    struct stat status {};
    if (::fstat(fd, &status) != 0) return -errno;
    return status.st_size >= size ? 0 : result_of([&] { return sys().ftruncate(fd, size); });
}

std::int64_t StorageDirectory::list(const IoOp& op) const {
    const int again = sys().openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (again < 0) return -errno;
    const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(again));
    if (!directory) return -errno;
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(directory.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        errno = 0;
    }
    if (errno != 0) return -errno;
    std::sort(names.begin(), names.end());
    std::size_t used = 0;
    for (std::size_t i = static_cast<std::size_t>(op.offset); i < names.size(); ++i) {
        if (op.data.size() - used < names[i].size() + 2) break;
        struct stat status {};
        const bool there =
            ::fstatat(directory_.get(), names[i].c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
        const char kind =
            there && is_plain_file(status) ? DirectoryEntry::regular : DirectoryEntry::other;
        op.data[used] = static_cast<std::byte>(kind);
        std::memcpy(op.data.data() + used + 1, names[i].c_str(), names[i].size() + 1);
        used += names[i].size() + 2;
    }
    return static_cast<std::int64_t>(used);
}

} // namespace promtact
