// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cerrno>

#include <fcntl.h>

#include <promtact/base/sys.hpp>

namespace promtact::test_support {

/// The system calls of a host whose filesystems refuse O_DIRECT.
inline SysCalls without_direct_io() {
    SysCalls calls = real_sys_calls;
    calls.openat = [](int directory, const char* path, int flags, mode_t mode) {
        if ((flags & O_DIRECT) == 0) return ::openat(directory, path, flags, mode);
        errno = EINVAL;
        return -1;
    };
    return calls;
}

} // namespace promtact::test_support
