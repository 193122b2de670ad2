// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/directory_owner.hpp>
#include <promtact/base/storage_directory.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/base/unique_fd.hpp>

#include "temporary_directory.hpp"

namespace promtact {
namespace {

constexpr uid_t service = 4321;
constexpr gid_t its_group = 4322;

/// A directory of somebody else, with a file of root's in it.
class DirectoryOwner : public ::testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, to make another's directory";
        ASSERT_TRUE(UniqueFd{::open((folder / "roots").c_str(), O_CREAT | O_CLOEXEC, 0600)});
        ASSERT_EQ(::chown(folder.path().c_str(), service, its_group), 0);
        auto opened = StorageDirectory::open(folder.path(), {.direct = false});
        ASSERT_TRUE(opened);
        directory.emplace(std::move(*opened));
    }
    [[nodiscard]] std::string owner_of(const char* name) const {
        struct stat status {};
        EXPECT_EQ(::lstat((folder / name).c_str(), &status), 0) << name;
        return std::to_string(status.st_uid) + ":" + std::to_string(status.st_gid);
    }
    std::int64_t create(const char* name) {
        return directory->perform({.kind = IoKind::create, .file = 1, .name = name});
    }

    const test_support::TemporaryDirectory folder{};
    std::optional<StorageDirectory> directory{};
};

TEST_F(DirectoryOwner, GetsWhatIsMadeAndNotWhatWasThere) {
    EXPECT_EQ(create("new"), 0);
    EXPECT_EQ(create("roots"), 0);
    EXPECT_EQ(owner_of("new"), "4321:4322");
    EXPECT_EQ(owner_of("roots"), "0:0") << "it is not ours to give away";
    EXPECT_EQ(create("new"), 0) << "the second time it is opened";
}

TEST_F(DirectoryOwner, LackingThePrivilegeIsNoErrorAndAFailureIsOne) {
    SysCalls table = real_sys_calls;
    const ScopedSysCalls scope(table);
    for (const auto& [refusal, name] : {std::pair{EPERM, "a"}, {EINVAL, "b"}, {EOPNOTSUPP, "c"}}) {
        static thread_local int answer = 0;
        answer = refusal;
        table.fchown = [](int, uid_t, gid_t) {
            errno = answer;
            return -1;
        };
        EXPECT_EQ(create(name), 0);
        EXPECT_EQ(owner_of(name), "0:0");
    }
    table.fchown = [](int, uid_t, gid_t) {
        errno = EIO;
        return -1;
    };
    EXPECT_EQ(create("d"), -EIO);
    EXPECT_EQ(create("d"), 0) << "it is there now";
}

TEST(OpenOrMake, NeverFollowsALinkAndSaysWhatOpenSays) {
    const test_support::TemporaryDirectory folder;
    const UniqueFd directory{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    ASSERT_EQ(::symlink("nowhere", (folder / "link").c_str()), 0);
    const OpenOrMake how{.flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC};

    EXPECT_EQ(open_or_make(directory.get(), "link", how), -ELOOP);
    EXPECT_EQ(open_or_make(directory.get(), "absent/name", how), -ENOENT);
    const UniqueFd made{open_or_make(directory.get(), "made", how)};
    EXPECT_TRUE(made);
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"link", "made"}));
}

TEST(OpenOrMake, ANameThatComesAndGoesIsGivenUpOn) {
    const test_support::TemporaryDirectory folder;
    const UniqueFd directory{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    SysCalls table = real_sys_calls;
    table.openat = [](int, const char*, int flags, mode_t) {
        errno = (flags & O_CREAT) != 0 ? EEXIST : ENOENT;
        return -1;
    };
    const ScopedSysCalls scope(table);
    EXPECT_EQ(open_or_make(directory.get(), "name", {.flags = O_RDWR}), -EAGAIN);
}

} // namespace
} // namespace promtact
