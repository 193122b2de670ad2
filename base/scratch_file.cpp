// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/scratch_file.hpp>

namespace promtact {
namespace {

namespace fs = std::filesystem;

constexpr const char* scratch_prefix = "promtact-scratch-";

Error open_error(int sys_errno, const fs::path& directory, int flags) {
    // open(2): a filesystem without direct I/O refuses the flag with EINVAL.
    if (sys_errno == EINVAL && (flags & O_DIRECT) != 0) {
        return Error{
            Errc::unsupported, EINVAL,
            "create a file in " + directory.string() + ": this filesystem refuses O_DIRECT"};
    }
    return Error::from_errno(sys_errno, "create a file in " + directory.string());
}

// Filesystems that accept O_DIRECT but keep their files in memory.
const char* memory_filesystem(int fd) {
    struct statfs facts {};
    if (::fstatfs(fd, &facts) != 0) return nullptr;
    const auto type = static_cast<std::uint64_t>(facts.f_type);
    if (type == TMPFS_MAGIC) return "tmpfs";
    if (type == RAMFS_MAGIC) return "ramfs";
    return nullptr;
}

// Names with our prefix exist only between create and unlink, so whatever is found was left by a
// killed process, or is about to be unlinked by its owner, who does not mind.
void reap_leftovers(const fs::path& directory) {
    const auto names = list_directory(directory);
    if (!names) return;
    for (const std::string& name : *names) {
        const fs::path path = directory / name;
        struct stat status {};
        if (name.starts_with(scratch_prefix) && ::lstat(path.c_str(), &status) == 0 &&
            S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && status.st_size == 0)
            static_cast<void>(::unlink(path.c_str()));
    }
}

} // namespace

Result<UniqueFd> detail::create_unlinked(const fs::path& directory, int flags) {
    reap_leftovers(directory);
    for (int attempt = 0; attempt < 64; ++attempt) {
        const fs::path path = directory / (scratch_prefix + std::to_string(::getpid()) + "-" +
                                           std::to_string(attempt));
        UniqueFd file{
            ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags, S_IRUSR | S_IWUSR)};
        if (!file && errno == EEXIST) continue;
        const int failure = errno;
        kill_point();
        // open(2) with a refused O_DIRECT has already made the name, so unlink in both cases.
        if (::unlink(path.c_str()) != 0 && errno != ENOENT)
            return Error::from_errno(errno, "unlink " + path.string());
        if (!file) return open_error(failure, directory, flags);
        return file;
    }
    return Error{Errc::exists, EEXIST, "create a scratch file in " + directory.string()};
}

Result<ScratchFile> ScratchFile::create(const fs::path& directory, int flags) {
    UniqueFd file{::open(
        directory.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC | flags, S_IRUSR | S_IWUSR)};
    if (file) {
        kill_point();
        const char* const memory =
            (flags & O_DIRECT) != 0 ? memory_filesystem(file.get()) : nullptr;
        if (memory == nullptr) return ScratchFile{std::move(file), directory};
        return Error{
            Errc::unsupported, 0,
            "filesystem does not support O_DIRECT: " + directory.string() + " (" + memory +
                " keeps files in memory); choose a directory on a disk filesystem"};
    }
    // EOPNOTSUPP: no O_TMPFILE on this filesystem. EISDIR: a kernel that ignores the flag.
    if (errno != EOPNOTSUPP && errno != EISDIR) return open_error(errno, directory, flags);
    PROMTACT_TRY_ASSIGN(UniqueFd named, detail::create_unlinked(directory, flags));
    return ScratchFile{std::move(named), directory};
}

Result<UniqueFd> reopen_descriptor(int fd, int flags) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    UniqueFd file{::open(link.c_str(), flags | O_CLOEXEC)};
    if (file) return file;
    const int failure = errno;
    if (failure == ENOENT && ::access("/proc/self", F_OK) != 0)
        return Error{Errc::unsupported, ENOENT, "reopen a file: /proc is not mounted"};
    return Error::from_errno(failure, "reopen " + link);
}

Result<UniqueFd> ScratchFile::reopen(int flags) const {
    return reopen_descriptor(file_.get(), flags);
}

Result<void> ScratchFile::fill_with_zeros(std::uint64_t bytes) {
    return promtact::fill_with_zeros(file_.get(), bytes, "a file in " + directory_.string());
}

Result<void> fill_with_zeros(int fd, std::uint64_t bytes, const std::string& name) {
    constexpr std::uint64_t chunk_bytes = 1U << 20;
    PROMTACT_ASSERT(bytes % 4096 == 0); // every direct I/O alignment in use divides it
    const auto attempt = "write zeros to " + name;
    // Not posix_fallocate(3): where the filesystem cannot, it writes single bytes, which O_DIRECT
    // refuses.
    if (::fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0 && errno != EOPNOTSUPP)
        return Error::from_errno(errno, "reserve " + std::to_string(bytes) + " bytes in " + name);
    kill_point();
    const std::unique_ptr<void, decltype(&std::free)> chunk{
        std::aligned_alloc(4096, chunk_bytes), &std::free};
    PROMTACT_ASSERT(chunk != nullptr);
    std::fill_n(
        static_cast<unsigned char*>(chunk.get()), chunk_bytes, static_cast<unsigned char>(0));
    for (std::uint64_t at = 0; at < bytes;) {
        const std::size_t length = std::min(chunk_bytes, bytes - at);
        const ssize_t put = ::pwrite(fd, chunk.get(), length, static_cast<off_t>(at));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return Error::from_errno(errno, attempt);
        // A short direct write that is not block aligned cannot be continued.
        if (put == 0 || put % 512 != 0) return Error{Errc::short_write, 0, attempt};
        at += static_cast<std::uint64_t>(put);
    }
    kill_point();
    if (::fsync(fd) != 0) return Error::from_errno(errno, "sync after " + attempt);
    return {};
}

} // namespace promtact
