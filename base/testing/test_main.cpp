// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The main of every test binary: a run in which something was skipped and nothing failed exits 77,
// so that ctest shows "Skipped" and never a green line for work that was not done. Kernel tests
// compare what the whole host holds, so those of different build trees take turns.
#include <cerrno>
#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

constexpr const char* lock_path = "/run/lock/promtact-kernel-tests";

// The descriptor that holds the turn, open until the process ends. Without the folder for locks
// there is no turn to take, and only ctest keeps the kernel tests of its own tree apart.
int take_turn() {
    int fd = ::open(lock_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fd = ::open(lock_path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
    while (fd >= 0 && ::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    return fd;
}

} // namespace

int main(int argc, char** argv) {
    const bool kernel = std::string_view(argv[0]).ends_with("_kernel_tests");
    testing::InitGoogleMock(&argc, argv);
    if (kernel && !GTEST_FLAG_GET(list_tests)) static_cast<void>(take_turn());
    const int status = RUN_ALL_TESTS();
    const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
    if (status == 0 && unit.successful_test_count() == 0 && unit.skipped_test_count() > 0)
        return 77;
    return status;
}
