// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test support: runs a body in a child process, which may take things from itself that a container
// would not have, and hands back what it said.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

namespace promtact::test_support {

/// What body returned in a child of its own; "died: " and what came through, when it died.
inline std::string in_child(const std::function<std::string()>& body) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "died: no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string text = body();
        const ssize_t written = ::write(ends[1], text.data(), text.size());
        ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    static_cast<void>(::close(ends[1]));
    std::string text;
    std::array<char, 4096> chunk{};
    for (ssize_t got = 0; (got = ::read(ends[0], chunk.data(), chunk.size())) > 0;)
        text.append(chunk.data(), static_cast<std::size_t>(got));
    static_cast<void>(::close(ends[0]));
    int status = 0;
    static_cast<void>(::waitpid(child, &status, 0));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "died: " + text;
}

/// From now on io_uring_setup(2) is answered with the errno, and everything else passes: what
/// container runtimes do. For this process and its children; false when no filter can be had.
inline bool forbid_io_uring(unsigned sys_errno = EPERM) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | sys_errno),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{.len = std::size(program), .filter = program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace promtact::test_support
