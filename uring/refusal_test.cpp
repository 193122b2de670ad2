// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>

#include <gtest/gtest.h>

#include <promtact/uring/refusal.hpp>

namespace promtact::uring {
namespace {

struct Row {
    const char* name;
    int sys_errno;
    Surroundings around;
    Errc code;
    const char* says;
};

TEST(Refusal, NamesTheCauseAndTheRemedy) {
    const Row rows[] = {
        {"sysctl forbids all",
         EPERM,
         {.io_uring_disabled = 2},
         Errc::denied,
         "kernel.io_uring_disabled is 2"},
        {"sysctl wins over a filter",
         EPERM,
         {.io_uring_disabled = 2, .seccomp_mode = 2},
         Errc::denied,
         "sysctl -w kernel.io_uring_disabled=0"},
        {"sysctl forbids the unprivileged",
         EPERM,
         {.io_uring_disabled = 1},
         Errc::denied,
         "kernel.io_uring_group"},
        {"container filter",
         EPERM,
         {.io_uring_disabled = 0, .seccomp_mode = 2},
         Errc::denied,
         "seccomp"},
        {"filter by EACCES", EACCES, {.seccomp_mode = 2}, Errc::denied, "seccomp"},
        {"neither", EPERM, {}, Errc::denied, "security module"},
        {"kernel without it", ENOSYS, {}, Errc::unsupported, "CONFIG_IO_URING"},
        {"hidden by a filter", ENOSYS, {.seccomp_mode = 2}, Errc::unsupported, "seccomp"},
        {"locked memory",
         ENOMEM,
         {.memlock_bytes = 65536},
         Errc::denied,
         "RLIMIT_MEMLOCK is 65536 bytes"},
        {"no memory at all", ENOMEM, {.memlock_unlimited = true}, Errc::system, "unlimited"},
        {"descriptors", EMFILE, {}, Errc::system, "RLIMIT_NOFILE"},
        {"unknown flags", EINVAL, {}, Errc::unsupported, "does not know"},
        {"anything else", EIO, {}, Errc::io, "io_uring_setup"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.name);
        const Error error = explain_setup_refusal(row.sys_errno, row.around);
        EXPECT_EQ(error.code, row.code);
        EXPECT_EQ(error.sys_errno, row.sys_errno);
        EXPECT_NE(error.context.find(row.says), std::string::npos) << error.context;
    }
}

TEST(Refusal, BufferRefusalNamesSizeAndLimit) {
    const Error error =
        explain_buffer_refusal(ENOMEM, 1 << 20, Surroundings{.memlock_bytes = 65536});

    EXPECT_EQ(error.code, Errc::denied);
    EXPECT_NE(error.context.find("1048576 bytes"), std::string::npos);
    EXPECT_NE(error.context.find("65536 bytes"), std::string::npos);
    EXPECT_EQ(explain_buffer_refusal(EFAULT, 1, {}).sys_errno, EFAULT);
}

} // namespace
} // namespace promtact::uring
