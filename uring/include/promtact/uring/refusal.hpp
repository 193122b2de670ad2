// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Why the kernel refused io_uring, told so that a person can act on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <promtact/base/result.hpp>

namespace promtact::uring {

/// The settings around this process that decide whether it may use io_uring.
struct Surroundings {
    std::optional<int> io_uring_disabled{}; // /proc/sys/kernel/io_uring_disabled, since Linux 6.6
    int seccomp_mode = 0;                   // /proc/self/status: 0 none, 1 strict, 2 filter
    std::uint64_t memlock_bytes = 0;        // RLIMIT_MEMLOCK, soft
    bool memlock_unlimited = false;
};
Surroundings read_surroundings();

/// The Error for a failed io_uring_setup(2): denied for EPERM, EACCES and for ENOMEM under a
/// locked-memory limit, unsupported for ENOSYS, otherwise by errno. The context names the cause and
/// the remedy.
Error explain_setup_refusal(int sys_errno, const Surroundings& around);

/// The same for registering `bytes` of buffers.
Error explain_buffer_refusal(int sys_errno, std::uint64_t bytes, const Surroundings& around);

} // namespace promtact::uring
