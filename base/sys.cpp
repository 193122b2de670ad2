// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <promtact/base/sys.hpp>

namespace promtact {

// Constant initialisation: usable by other static initialisers.
constinit const SysCalls real_sys_calls{
    .open = [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
    .openat = [](int directory, const char* path, int flags,
                 mode_t mode) { return ::openat(directory, path, flags, mode); },
    .close = ::close,
    .read = ::read,
    .pread = ::pread,
    .write = ::write,
    .pwrite = ::pwrite,
    .fsync = ::fsync,
    .fdatasync = ::fdatasync,
    .ftruncate = ::ftruncate,
    .fchown = ::fchown,
    .fallocate = ::fallocate,
    .linkat = ::linkat,
    .rename = ::rename,
    .renameat = ::renameat,
    .unlink = ::unlink,
    .unlinkat = ::unlinkat,
    .mkdir = ::mkdir,
    .statx = [](int fd, const char* path, int flags, unsigned mask,
                struct statx* result) { return ::statx(fd, path, flags, mask, result); },
    .flock = ::flock,
    .ioctl = [](int fd, unsigned long request,
                void* argument) { return ::ioctl(fd, request, argument); },
    .unshare = ::unshare,
    .setns = ::setns,
};

} // namespace promtact
