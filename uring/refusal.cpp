// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>

#include <sys/resource.h>

#include <promtact/uring/refusal.hpp>

namespace promtact::uring {
namespace {

std::optional<int> read_number(const char* path) {
    std::ifstream file(path);
    int value = 0;
    if (file >> value) return value;
    return std::nullopt;
}

// The thread's own status: a filter may be installed on one thread only.
int read_seccomp_mode() {
    constexpr std::string_view key = "Seccomp:";
    std::ifstream file("/proc/thread-self/status");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with(key)) {
            std::istringstream rest(line.substr(key.size()));
            int mode = 0;
            if (rest >> mode) return mode;
        }
    }
    return 0;
}

std::string limit_text(const Surroundings& around) {
    if (around.memlock_unlimited) return "RLIMIT_MEMLOCK is unlimited";
    return "RLIMIT_MEMLOCK is " + std::to_string(around.memlock_bytes) + " bytes";
}

constexpr const char* memlock_remedy =
    "; raise it (ulimit -l, systemd LimitMEMLOCK=, container --ulimit memlock) or ask for less";

std::string denied_text(const Surroundings& around) {
    if (around.io_uring_disabled.value_or(0) == 2) {
        return "io_uring_setup: kernel.io_uring_disabled is 2, so no process may use io_uring; "
               "sysctl -w kernel.io_uring_disabled=0";
    }
    const bool filtered = around.seccomp_mode == 2;
    if (around.io_uring_disabled.value_or(0) == 1 && !filtered) {
        return "io_uring_setup: kernel.io_uring_disabled is 1 and this process has neither "
               "CAP_SYS_ADMIN nor the group of kernel.io_uring_group; sysctl -w "
               "kernel.io_uring_disabled=0 or join that group";
    }
    if (filtered) {
        return "io_uring_setup: a seccomp filter is active on this thread and refuses it, as the "
               "default profiles of container runtimes do; allow io_uring_setup, io_uring_enter "
               "and io_uring_register in the profile (container --security-opt seccomp=FILE)";
    }
    return "io_uring_setup: refused by a security module or missing privilege; "
           "kernel.io_uring_disabled is " +
           (around.io_uring_disabled ? std::to_string(*around.io_uring_disabled)
                                     : std::string("absent")) +
           " and no seccomp filter is active";
}

} // namespace

Surroundings read_surroundings() {
    Surroundings around;
    around.io_uring_disabled = read_number("/proc/sys/kernel/io_uring_disabled");
    around.seccomp_mode = read_seccomp_mode();
    rlimit limit{};
    if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
        around.memlock_unlimited = limit.rlim_cur == RLIM_INFINITY;
        around.memlock_bytes = limit.rlim_cur;
    }
    return around;
}

Error explain_setup_refusal(int sys_errno, const Surroundings& around) {
    switch (sys_errno) {
    case EPERM:
    case EACCES:
        return {Errc::denied, sys_errno, denied_text(around)};
    case ENOSYS:
        if (around.seccomp_mode == 2) {
            return {
                Errc::unsupported, sys_errno,
                "io_uring_setup: unknown to the kernel (CONFIG_IO_URING) or hidden by the seccomp "
                "filter that is active on this thread; allow io_uring_setup in its profile"};
        }
        return {
            Errc::unsupported, sys_errno,
            "io_uring_setup: this kernel was built without CONFIG_IO_URING"};
    case ENOMEM:
        return {
            around.memlock_unlimited ? Errc::system : Errc::denied, sys_errno,
            "io_uring_setup: no memory for the queues; " + limit_text(around) + memlock_remedy};
    case EMFILE:
    case ENFILE:
        return {
            Errc::system, sys_errno,
            "io_uring_setup: too many open descriptors; raise RLIMIT_NOFILE (ulimit -n)"};
    case EINVAL:
        return {
            Errc::unsupported, sys_errno,
            "io_uring_setup: this kernel does not know the flags or the queue size asked for"};
    default:
        return Error::from_errno(sys_errno, "io_uring_setup");
    }
}

Error explain_buffer_refusal(int sys_errno, std::uint64_t bytes, const Surroundings& around) {
    const std::string what = "register " + std::to_string(bytes) + " bytes of buffers";
    if (sys_errno != ENOMEM) return Error::from_errno(sys_errno, what);
    return {
        around.memlock_unlimited ? Errc::system : Errc::denied, sys_errno,
        what + ": locked memory of this user would exceed its limit; " + limit_text(around) +
            memlock_remedy};
}

} // namespace promtact::uring
