// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <thread>

#include <fcntl.h>

#include <gtest/gtest.h>

#include <promtact/base/sys.hpp>

#include "testing/fail_nth_call.hpp"

namespace promtact {
namespace {

TEST(Sys, TheRealTableIsTheDefaultAndComplete) {
    EXPECT_EQ(&sys(), &real_sys_calls);
    const auto* words = static_cast<void* const*>(static_cast<const void*>(&real_sys_calls));
    for (std::size_t i = 0; i < sizeof(SysCalls) / sizeof(void*); ++i)
        EXPECT_NE(words[i], nullptr) << "call " << i;
}

TEST(Sys, AnOverrideIsScopedNestedAndOfOneThread) {
    SysCalls outer = real_sys_calls;
    SysCalls inner = real_sys_calls;
    {
        const ScopedSysCalls first(outer);
        EXPECT_EQ(&sys(), &outer);
        {
            const ScopedSysCalls second(inner);
            EXPECT_EQ(&sys(), &inner);
            std::jthread([] { EXPECT_EQ(&sys(), &real_sys_calls); });
        }
        EXPECT_EQ(&sys(), &outer);
    }
    EXPECT_EQ(&sys(), &real_sys_calls);
}

TEST(Sys, FailNthCallFailsThatCallOnly) {
    const test_support::FailNthCall fault(2, ENOSPC);
    const int fd = sys().open("/dev/null", O_WRONLY | O_CLOEXEC, 0);
    ASSERT_GE(fd, 0);
    EXPECT_FALSE(fault.fired());

    errno = 0;
    EXPECT_EQ(sys().fsync(fd), -1);
    EXPECT_EQ(errno, ENOSPC);

    EXPECT_EQ(sys().write(fd, "x", 1), 1);
    EXPECT_EQ(sys().close(fd), 0);
    EXPECT_EQ(fault.failed_call(), "fsync");
    EXPECT_EQ(fault.calls().size(), 4U);
}

TEST(Sys, FailNthCallWrapsEveryCall) {
    const test_support::FailNthCall count(0, 0);
    const auto* wrapped = static_cast<void* const*>(static_cast<const void*>(&sys()));
    const auto* real = static_cast<void* const*>(static_cast<const void*>(&real_sys_calls));
    for (std::size_t i = 0; i < sizeof(SysCalls) / sizeof(void*); ++i)
        EXPECT_NE(wrapped[i], real[i]) << "call " << i << " cannot be failed";
}

} // namespace
} // namespace promtact
