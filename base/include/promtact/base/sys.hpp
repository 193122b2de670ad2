// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The seam for system calls that a test must be able to fail. Code that makes things durable or
// touches the outside calls sys().fsync(fd) instead of ::fsync(fd); a test swaps the table for its
// own thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace promtact {

/// One pointer per call, with the calls' own signatures, results and errno.
struct SysCalls {
    int (*open)(const char* path, int flags, mode_t mode) = nullptr;
    int (*openat)(int directory, const char* path, int flags, mode_t mode) = nullptr;
    int (*close)(int fd) = nullptr;
    ssize_t (*read)(int fd, void* buffer, size_t size) = nullptr;
    ssize_t (*pread)(int fd, void* buffer, size_t size, off_t offset) = nullptr;
    ssize_t (*write)(int fd, const void* buffer, size_t size) = nullptr;
    ssize_t (*pwrite)(int fd, const void* buffer, size_t size, off_t offset) = nullptr;
    int (*fsync)(int fd) = nullptr;
    int (*fdatasync)(int fd) = nullptr;
    int (*ftruncate)(int fd, off_t size) = nullptr;
    int (*fchown)(int fd, uid_t owner, gid_t group) = nullptr;
    int (*fallocate)(int fd, int mode, off_t offset, off_t size) = nullptr;
    int (*linkat)(int from_fd, const char* from, int to_fd, const char* to, int flags) = nullptr;
    int (*rename)(const char* from, const char* to) = nullptr;
    int (*renameat)(int from_fd, const char* from, int to_fd, const char* to) = nullptr;
    int (*unlink)(const char* path) = nullptr;
    int (*unlinkat)(int directory, const char* path, int flags) = nullptr;
    int (*mkdir)(const char* path, mode_t mode) = nullptr;
    int (*statx)(int fd, const char* path, int flags, unsigned mask, struct statx* result) =
        nullptr;
    int (*flock)(int fd, int operation) = nullptr;
    int (*ioctl)(int fd, unsigned long request, void* argument) = nullptr;
    int (*unshare)(int flags) = nullptr;
    int (*setns)(int fd, int kind) = nullptr;
};

/// The kernel's own.
extern const SysCalls real_sys_calls;

namespace detail {
inline thread_local const SysCalls* sys_override = nullptr;
}

/// The table of the calling thread: the kernel's unless a ScopedSysCalls is alive.
inline const SysCalls& sys() noexcept {
    const SysCalls* table = detail::sys_override;
    return table == nullptr ? real_sys_calls : *table;
}

/// Replaces the table for this thread until the scope ends. Scopes nest. For tests: copy
/// real_sys_calls and change what must fail.
/// Lifetime: table must outlive the scope.
class ScopedSysCalls {
  public:
    explicit ScopedSysCalls(const SysCalls& table) noexcept : previous_(detail::sys_override) {
        detail::sys_override = &table;
    }
    explicit ScopedSysCalls(const SysCalls&&) = delete; // it would be gone at once
    ScopedSysCalls(const ScopedSysCalls&) = delete;
    ScopedSysCalls& operator=(const ScopedSysCalls&) = delete;
    ~ScopedSysCalls() { detail::sys_override = previous_; }

  private:
    const SysCalls* previous_;
};

} // namespace promtact
