// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/unique_fd.hpp>

#include "testing/fail_nth_call.hpp"

namespace promtact {
namespace {

UniqueFd null_device() {
    return UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC));
}

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) != -1;
}

TEST(UniqueFd, TheDestructorCloses) {
    int fd = -1;
    {
        const UniqueFd owner = null_device();
        fd = owner.get();
        EXPECT_TRUE(is_open(fd));
    }
    EXPECT_FALSE(is_open(fd));
}

TEST(UniqueFd, MovingMovesTheOnlyOwnership) {
    UniqueFd first = null_device();
    const int fd = first.get();

    UniqueFd second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), fd);

    UniqueFd third = null_device();
    const int replaced = third.get();
    third = std::move(second);
    EXPECT_FALSE(is_open(replaced));
    EXPECT_EQ(third.get(), fd);

    UniqueFd& self = third;
    third = std::move(self);
    EXPECT_TRUE(is_open(fd));
}

TEST(UniqueFd, ReleaseHandsOverWithoutClosing) {
    UniqueFd owner = null_device();
    const UniqueFd taker(owner.release());

    EXPECT_FALSE(owner);
    EXPECT_TRUE(is_open(taker.get()));
}

TEST(UniqueFd, CloseReportsWhatCloseSaysAndIsDoneEitherWay) {
    UniqueFd owner = null_device();
    const int fd = owner.get();
    {
        const test_support::FailNthCall fault(1, EIO);
        const Result<void> closed = owner.close();
        ASSERT_FALSE(closed);
        EXPECT_EQ(closed.error().code, Errc::io);
    }
    EXPECT_FALSE(owner);
    EXPECT_FALSE(is_open(fd));
    EXPECT_TRUE(owner.close()) << "closing nothing is no error";
}

TEST(UniqueFd, AnInterruptedCloseIsClosedAndNotRetried) {
    UniqueFd owner = null_device();
    const test_support::FailNthCall fault(1, EINTR);

    EXPECT_TRUE(owner.close());

    EXPECT_EQ(fault.calls().size(), 1U);
}

} // namespace
} // namespace promtact
