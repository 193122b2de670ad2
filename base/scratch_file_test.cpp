// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/base/scratch_file.hpp>

#include "temporary_directory.hpp"

namespace promtact {
namespace {

namespace fs = std::filesystem;

class ScratchFileTest : public ::testing::Test {
  protected:
    [[nodiscard]] std::size_t entries() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
    }
    // Runs `body` in a child that is killed at the n-th kill point; false when it got to the end.
    template <class Body>
    bool killed_at(std::uint64_t n, Body body) {
        const pid_t child = ::fork();
        if (child == 0) {
            arm_kill_point(n);
            body();
            ::_exit(0);
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }

    test_support::TemporaryDirectory temporary_{};
    fs::path directory_ = temporary_.path();
};

TEST_F(ScratchFileTest, HasNoNameAndReadsBackThroughASecondDescriptor) {
    auto file = ScratchFile::create(directory_);
    ASSERT_TRUE(file);
    EXPECT_EQ(entries(), 0U);
    ASSERT_EQ(::pwrite(file->fd(), "abc", 3, 0), 3);

    auto second = file->reopen(O_RDONLY);

    ASSERT_TRUE(second);
    EXPECT_NE(second->get(), file->fd());
    char text[4] = {};
    ASSERT_EQ(::read(second->get(), text, 3), 3);
    EXPECT_STREQ(text, "abc");
    EXPECT_EQ(::lseek(file->fd(), 0, SEEK_CUR), 0);
    EXPECT_EQ(::write(second->get(), "x", 1), -1) << "opened read-only";
}

TEST_F(ScratchFileTest, FallbackReadsBackToo) {
    auto file = detail::create_unlinked(directory_, 0);
    ASSERT_TRUE(file);
    EXPECT_EQ(entries(), 0U);
    ASSERT_EQ(::pwrite(file->get(), "abc", 3, 0), 3);

    EXPECT_TRUE(reopen_descriptor(file->get(), O_RDONLY));
}

TEST_F(ScratchFileTest, LeavesNothingWhenKilledAtAnyPoint) {
    std::uint64_t points = 0;
    const auto body = [&] {
        auto file = ScratchFile::create(directory_);
        if (file) static_cast<void>(file->fill_with_zeros(1 << 20));
    };
    while (killed_at(points + 1, body)) {
        ++points;
        EXPECT_EQ(entries(), 0U) << "killed at point " << points;
    }
    EXPECT_GE(points, 3U);
}

TEST_F(ScratchFileTest, TheFallbackReapsWhatAKilledOneLeft) {
    ASSERT_TRUE(killed_at(1, [&] { static_cast<void>(detail::create_unlinked(directory_, 0)); }));
    ASSERT_EQ(entries(), 1U) << "the control: the name is there at the moment of death";

    EXPECT_TRUE(detail::create_unlinked(directory_, 0));

    EXPECT_EQ(entries(), 0U);
}

TEST_F(ScratchFileTest, ZeroesAreAllocated) {
    auto file = ScratchFile::create(directory_);
    ASSERT_TRUE(file);

    ASSERT_TRUE(file->fill_with_zeros(3 << 20));

    struct stat status {};
    ASSERT_EQ(::fstat(file->fd(), &status), 0);
    EXPECT_EQ(status.st_size, 3 << 20);
    EXPECT_GE(status.st_blocks * 512, 3 << 20);
}

TEST_F(ScratchFileTest, NamesTheDirectoryItCannotUse) {
    const auto missing = ScratchFile::create(directory_ / "absent");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::not_found);
    EXPECT_NE(missing.error().context.find("absent"), std::string::npos);

    const auto kernel = ScratchFile::create("/proc");
    EXPECT_FALSE(kernel);
}

TEST_F(ScratchFileTest, DirectInMemoryIsUnsupportedByName) {
    const auto file = ScratchFile::create("/dev/shm", O_DIRECT);
    ASSERT_FALSE(file);
    if (file.error().code == Errc::not_found) GTEST_SKIP() << "needs /dev/shm";
    EXPECT_EQ(file.error().code, Errc::unsupported);
    EXPECT_NE(file.error().context.find("/dev/shm"), std::string::npos);
}

TEST_F(ScratchFileTest, AFullTargetIsNoSpace) {
    auto file = ScratchFile::create("/dev/shm");
    if (!file) GTEST_SKIP() << "needs /dev/shm: " << file.error().context;
    struct stat status {};
    ASSERT_EQ(::fstat(file->fd(), &status), 0);

    const auto result = file->fill_with_zeros(std::uint64_t{1} << 50);

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::no_space);
}

} // namespace
} // namespace promtact
