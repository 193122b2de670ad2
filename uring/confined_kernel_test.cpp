// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// What a confined process is told: each case runs in a child that gives up a right for good.
#include <array>
#include <cerrno>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/features.hpp>
#include <promtact/uring/ring.hpp>

#include "confined.hpp"

namespace promtact::uring {
namespace {

using test_support::forbid_io_uring;
using test_support::in_child;

bool io_uring_works() {
    return Ring::open({}).has_value();
}

std::string open_and_describe() {
    const auto ring = Ring::open({});
    if (ring) return "opened";
    return std::string(to_string(ring.error().code)) + " | " + describe(ring.error());
}

TEST(Confined, SeccompFilterIsDeniedAndNamed) {
    if (!io_uring_works()) GTEST_SKIP() << "needs io_uring, to tell the filter's answer apart";

    const std::string text = in_child(
        [] { return forbid_io_uring(EPERM) ? open_and_describe() : std::string("no filter"); });

    EXPECT_EQ(text.rfind("permission denied | ", 0), 0U) << text;
    EXPECT_NE(text.find("seccomp"), std::string::npos) << text;
    EXPECT_NE(text.find("EPERM"), std::string::npos) << text;
}

TEST(Confined, SeccompFilterThatHidesTheCallIsUnsupported) {
    if (!io_uring_works()) GTEST_SKIP() << "needs io_uring, to tell the filter's answer apart";

    const std::string text = in_child(
        [] { return forbid_io_uring(ENOSYS) ? open_and_describe() : std::string("no filter"); });

    EXPECT_EQ(text.rfind("not supported here | ", 0), 0U) << text;
    EXPECT_NE(text.find("seccomp"), std::string::npos) << text;
}

TEST(Confined, FeatureReportUnderAFilterSaysNoWithTheReason) {
    if (!io_uring_works()) GTEST_SKIP() << "needs io_uring, to tell the filter's answer apart";

    const std::string text = in_child([] {
        if (!forbid_io_uring(EPERM)) return std::string("no filter");
        const FeatureReport report = probe_features("/tmp");
        return std::string(to_string(report.io_uring)) + " " + errno_name(report.sys_errno) + " " +
               report.reason + (report.features.empty() ? "" : " and yet features");
    });

    EXPECT_EQ(text.rfind("no EPERM ", 0), 0U) << text;
    EXPECT_NE(text.find("seccomp"), std::string::npos) << text;
    EXPECT_EQ(text.find("and yet"), std::string::npos) << text;
}

TEST(Confined, WithoutTheFilterTheSameChildOpensARing) {
    if (!io_uring_works()) GTEST_SKIP() << "needs io_uring";
    EXPECT_EQ(in_child(open_and_describe), "opened");
}

TEST(Confined, LockedMemoryLimitIsNamedWithItsValue) {
    if (!io_uring_works()) GTEST_SKIP() << "needs io_uring";
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without CAP_IPC_LOCK";

    const std::string text = in_child([] {
        const rlimit small{.rlim_cur = 65536, .rlim_max = 65536};
        constexpr uid_t nobody = 65534;
        if (::setrlimit(RLIMIT_MEMLOCK, &small) != 0 || ::setresgid(nobody, nobody, nobody) != 0 ||
            ::setresuid(nobody, nobody, nobody) != 0)
            return std::string("could not become nobody");
        auto ring = Ring::open({.entries = 4});
        if (!ring) return "ring: " + describe(ring.error());
        auto buffer = AlignedBuffer::allocate(64, 65536);
        if (!buffer) return "buffer: " + describe(buffer.error());
        const std::array buffers{buffer->all()};
        const auto registered = ring->register_buffers(buffers);
        return registered ? std::string("registered") : describe(registered.error());
    });

    EXPECT_NE(text.find("RLIMIT_MEMLOCK is 65536 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("register 4194304 bytes"), std::string::npos) << text;
    EXPECT_NE(text.find("ulimit -l"), std::string::npos) << text;
    EXPECT_NE(text.find("permission denied (ENOMEM)"), std::string::npos) << text;
}

TEST(Confined, UnprivilegedUserMayProbeAndWrite) {
    if (!io_uring_works()) GTEST_SKIP() << "needs io_uring";
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";

    const std::string text = in_child([] {
        constexpr uid_t nobody = 65534;
        if (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0)
            return std::string("could not become nobody");
        const FeatureReport report = probe_features("/tmp");
        const Feature* write = report.find("fixed_write");
        return std::string(to_string(report.io_uring)) + " " +
               (write == nullptr ? "missing" : std::string(to_string(write->support)));
    });

    EXPECT_TRUE(text == "yes yes" || text == "yes unknown") << text;
}

} // namespace
} // namespace promtact::uring
