// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/fs.h>
#include <linux/magic.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/direct_file.hpp>

namespace promtact::uring {
namespace {

// linux/stat.h by number and offset: headers of Debian 12 end before the atomic-write fields.
constexpr unsigned statx_dioalign = 0x2000;
constexpr unsigned statx_write_atomic = 0x10000;
constexpr std::size_t at_mask = 0x00;
constexpr std::size_t at_dio_mem_align = 0x98;
constexpr std::size_t at_dio_offset_align = 0x9c;
constexpr std::size_t at_atomic_unit_min = 0xa8;
constexpr std::size_t at_atomic_unit_max = 0xac;
static_assert(sizeof(struct statx) == 0x100);

class StatxFields {
  public:
    static Result<StatxFields> of(int fd, unsigned mask) {
        struct statx raw {};
        if (::statx(fd, "", AT_EMPTY_PATH, mask, &raw) != 0)
            return Error::from_errno(errno, "statx descriptor " + std::to_string(fd));
        StatxFields fields;
        std::memcpy(fields.bytes_.data(), &raw, sizeof raw);
        return fields;
    }
    [[nodiscard]] std::uint32_t at(std::size_t offset) const {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    [[nodiscard]] bool has(unsigned mask) const { return (at(at_mask) & mask) == mask; }

  private:
    std::array<std::byte, 0x100> bytes_{};
};

std::string hex(std::uint64_t value) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
    return "0x" + std::string(digits.data(), end);
}

Error no_direct(const std::string& name, const std::string& filesystem, int sys_errno) {
    return {
        Errc::unsupported, sys_errno,
        "filesystem does not support O_DIRECT: " + name + " (" + filesystem +
            "); use a directory on a disk filesystem such as ext4 or xfs"};
}

std::string filesystem_of_directory(int directory, const std::string& name) {
    const std::string parent = std::filesystem::path(name).parent_path().string();
    const UniqueFd fd(
        ::openat(directory, parent.empty() ? "." : parent.c_str(), O_PATH | O_CLOEXEC));
    return fd ? filesystem_name(fd.get()) : "unknown filesystem";
}

bool is_memory_filesystem(int fd) {
    struct statfs facts {};
    if (::fstatfs(fd, &facts) != 0) return false;
    const auto type = static_cast<std::uint64_t>(facts.f_type);
    return type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == HUGETLBFS_MAGIC;
}

} // namespace

std::string filesystem_name(int fd) {
    struct Known {
        std::uint64_t magic;
        const char* name;
    };
    static constexpr std::array known{
        Known{EXT4_SUPER_MAGIC, "ext4"},
        Known{XFS_SUPER_MAGIC, "xfs"},
        Known{BTRFS_SUPER_MAGIC, "btrfs"},
        Known{F2FS_SUPER_MAGIC, "f2fs"},
        Known{TMPFS_MAGIC, "tmpfs"},
        Known{RAMFS_MAGIC, "ramfs"},
        Known{OVERLAYFS_SUPER_MAGIC, "overlayfs"},
        Known{FUSE_SUPER_MAGIC, "fuse"},
        Known{NFS_SUPER_MAGIC, "nfs"},
        Known{SQUASHFS_MAGIC, "squashfs"},
        Known{PROC_SUPER_MAGIC, "proc"},
        Known{SYSFS_MAGIC, "sysfs"},
        Known{0x2fc12fc1, "zfs"},
        Known{0x01021997, "9p"},
    };
    struct statfs facts {};
    if (::fstatfs(fd, &facts) != 0) return "unknown filesystem";
    const auto type = static_cast<std::uint64_t>(facts.f_type);
    for (const Known& entry : known)
        if (entry.magic == type) return entry.name;
    return "filesystem " + hex(type);
}

Result<UniqueFd> open_direct_at(int directory, const std::string& name, int flags, unsigned mode) {
    const bool existed = ::faccessat(directory, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    UniqueFd fd(::openat(directory, name.c_str(), flags | O_DIRECT | O_CLOEXEC, mode));
    kill_point();
    const int failure = errno;
    const bool creates = (flags & O_CREAT) != 0 && !existed;
    if (fd && !is_memory_filesystem(fd.get())) return fd;
    // open(2): the file may have been created before the flag was found unsupported.
    const bool refused = fd || failure == EINVAL;
    if (!refused) return Error::from_errno(failure, "open " + name);
    if (creates && (flags & O_TMPFILE) != O_TMPFILE)
        static_cast<void>(::unlinkat(directory, name.c_str(), 0));
    return no_direct(name, filesystem_of_directory(directory, name), fd ? 0 : failure);
}

Result<UniqueFd> open_direct(const std::filesystem::path& path, int flags, unsigned mode) {
    return open_direct_at(AT_FDCWD, path.string(), flags, mode);
}

Result<UniqueFd> open_direct_scratch(const std::filesystem::path& directory) {
    const std::string name = directory.string();
    UniqueFd fd(::open(name.c_str(), O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600));
    if (fd && is_memory_filesystem(fd.get())) return no_direct(name, filesystem_name(fd.get()), 0);
    if (fd) return fd;
    const int failure = errno;
    if (failure == EINVAL)
        return no_direct(name, filesystem_of_directory(AT_FDCWD, name + "/"), failure);
    if (failure == EOPNOTSUPP || failure == EISDIR) {
        return Error{
            Errc::unsupported, failure,
            "filesystem does not support nameless files (O_TMPFILE): " + name};
    }
    return Error::from_errno(failure, "open a scratch file in " + name);
}

Result<DirectAlignment> direct_io_alignment(int fd) {
    PROMTACT_TRY_ASSIGN(const StatxFields fields, StatxFields::of(fd, statx_dioalign));
    if (fields.has(statx_dioalign)) {
        const DirectAlignment found{
            .memory = fields.at(at_dio_mem_align),
            .offset = fields.at(at_dio_offset_align),
            .reported = true};
        if (found.memory == 0 || found.offset == 0) {
            return Error{
                Errc::unsupported, 0,
                "the kernel reports no direct I/O for this file on " + filesystem_name(fd)};
        }
        return found;
    }
    int sector = 0;
    struct stat facts {};
    if (::fstat(fd, &facts) == 0 && S_ISBLK(facts.st_mode) &&
        ::ioctl(fd, BLKSSZGET, &sector) == 0 && sector > 0) {
        return DirectAlignment{
            .memory = static_cast<std::uint32_t>(sector),
            .offset = static_cast<std::uint32_t>(sector),
            .reported = true};
    }
    return DirectAlignment{.memory = block_bytes, .offset = block_bytes, .reported = false};
}

Result<AtomicWriteUnit> atomic_write_unit(int fd) {
    PROMTACT_TRY_ASSIGN(const StatxFields fields, StatxFields::of(fd, statx_write_atomic));
    if (!fields.has(statx_write_atomic)) return AtomicWriteUnit{};
    return AtomicWriteUnit{
        .minimum = fields.at(at_atomic_unit_min),
        .maximum = fields.at(at_atomic_unit_max),
        .reported = true};
}

} // namespace promtact::uring
