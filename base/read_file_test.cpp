// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/read_file.hpp>

#include "testing/fail_nth_call.hpp"
#include "testing/temporary_directory.hpp"

namespace promtact {
namespace {

TEST(ReadFile, LimitIsExact) {
    const test_support::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "file";
    for (const std::size_t size : {0UL, 1UL, 65'535UL, 65'536UL, 65'537UL, 200'000UL}) {
        ASSERT_TRUE(write_file_atomic(path, std::string(size, 'x')));

        EXPECT_EQ(read_text_file(path, Bytes{size})->size(), size);
        EXPECT_EQ(read_file(path, Bytes{size + 1})->size(), size);
        if (size == 0) continue;
        const Result<std::string> refused = read_text_file(path, Bytes{size - 1});
        ASSERT_FALSE(refused) << size;
        EXPECT_EQ(refused.error().code, Errc::out_of_range);
    }
}

TEST(ReadFile, EndlessFilesAreCutOffAtTheLimit) {
    EXPECT_EQ(read_file("/dev/zero", 1_MiB).error().code, Errc::out_of_range);
}

TEST(ReadFile, ReadsFilesThatClaimToBeEmpty) {
    EXPECT_FALSE(read_text_file("/proc/self/status", 1_MiB)->empty());
}

TEST(ReadFile, DoesNotWaitForAPipeThatNobodyWritesTo) {
    const test_support::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_EQ(read_file(path, 1_MiB).error().code, Errc::invalid_argument);
}

TEST(ReadFile, NamesWhatIsWrong) {
    const test_support::TemporaryDirectory directory;

    EXPECT_EQ(read_file(directory / "absent", 1_MiB).error().code, Errc::not_found);
    const Result<std::string> folder = read_text_file(directory.path(), 1_MiB);
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code, Errc::invalid_argument);
    EXPECT_NE(folder.error().context.find("is a directory"), std::string::npos);
}

TEST(ReadFile, EveryFailingCallIsAnErrorAndInterruptionIsNot) {
    const test_support::TemporaryDirectory directory;
    const std::filesystem::path path = directory / "file";
    ASSERT_TRUE(write_file_atomic(path, "abc"));
    std::uint64_t n = 1;
    for (;; ++n) {
        const test_support::FailNthCall fault(n, EIO);
        const Result<std::string> content = read_text_file(path, 1_MiB);
        if (!fault.fired()) break;
        EXPECT_FALSE(content) << fault.failed_call();
    }
    EXPECT_EQ(n, 5U) << "open, stat and two reads were expected";
    const test_support::FailNthCall interrupted(3, EINTR);
    EXPECT_EQ(*read_text_file(path, 1_MiB), "abc");
    EXPECT_TRUE(interrupted.fired());
}

} // namespace
} // namespace promtact
