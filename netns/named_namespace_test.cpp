// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cstdlib>
#include <fstream>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <promtact/netns/named_namespace.hpp>

#include "kernel_fixture_internal.hpp"
#include "kill_sweep.hpp"
#include "temporary_directory.hpp"

namespace promtact::netns {
namespace {

constexpr auto node = NamespaceName::literal("promtact-node1");

/// Directories of its own, so that the host's /run stays as it is even when a test is killed.
class NetnsNamedNamespace : public KernelFixture {
  protected:
    void SetUp() override {
        KernelFixture::SetUp();
        directories_ = {.names = root_ / "netns", .claims = root_ / "state" / "claims"};
    }
    void TearDown() override {
        if (!root_.empty()) {
            std::error_code error;
            static_cast<void>(
                ::umount2((directories_.names / "promtact-node1").c_str(), MNT_DETACH));
            std::filesystem::remove_all(root_, error);
            EXPECT_FALSE(error) << error.message();
        }
        KernelFixture::TearDown();
    }
    std::uint64_t inode(const std::filesystem::path& path) const {
        struct stat status {};
        return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
    }
    std::size_t files() const {
        std::error_code error;
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root_, error))
            count += entry.is_directory() ? 0U : 1U;
        return count;
    }

    // A tmpfs, as /run is: not every filesystem of a temporary directory has O_TMPFILE.
    test_support::TemporaryDirectory temporary_{"/dev/shm"};
    std::filesystem::path root_ = temporary_.path();
    NameDirectories directories_;
};

TEST_F(NetnsNamedNamespace, AppearsUnderItsNameAndLeavesNothing) {
    {
        const auto named = NamedNamespace::claim(node, directories_);
        ASSERT_TRUE(named) << describe(named.error());
        EXPECT_EQ(inode(named->path()), named->get().id().inode);
    }

    EXPECT_TRUE(std::filesystem::is_empty(root_));
}

TEST_F(NetnsNamedNamespace, AFailingClaimLeavesTheForeignNamespaceAlone) {
    const Namespace foreign = Namespace::create().value();
    std::filesystem::create_directories(directories_.names);
    const std::filesystem::path path = directories_.names / "promtact-node1";
    std::ofstream{path} << "foreign";
    const std::string source = "/proc/self/fd/" + std::to_string(foreign.fd());
    ASSERT_EQ(::mount(source.c_str(), path.c_str(), "none", MS_BIND, nullptr), 0);

    const auto named = NamedNamespace::claim(node, directories_);

    ASSERT_FALSE(named);
    EXPECT_EQ(named.error().code, Errc::exists);
    EXPECT_EQ(inode(path), foreign.id().inode);
    EXPECT_FALSE(std::filesystem::exists(directories_.claims / "promtact-node1"));
}

TEST_F(NetnsNamedNamespace, APlainFileUnderTheNameIsLeftAlone) {
    std::filesystem::create_directories(directories_.names);
    const std::filesystem::path path = directories_.names / "promtact-node1";
    std::ofstream{path} << "foreign";

    EXPECT_FALSE(NamedNamespace::claim(node, directories_));
    EXPECT_TRUE(reap_dead_owners(directories_));

    EXPECT_EQ(std::filesystem::file_size(path), 7U);
}

TEST_F(NetnsNamedNamespace, ASecondClaimIsRefusedAndTheFirstOwnerStays) {
    const auto first = NamedNamespace::claim(node, directories_);
    ASSERT_TRUE(first);

    const auto second = NamedNamespace::claim(node, directories_);

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::exists);
    EXPECT_EQ(inode(first->path()), first->get().id().inode);
}

TEST_F(NetnsNamedNamespace, ReapLeavesALivingOwnerAlone) {
    const auto named = NamedNamespace::claim(node, directories_);
    ASSERT_TRUE(named);

    const auto report = reap_dead_owners(directories_);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->alive, std::vector<std::string>{"promtact-node1"});
    EXPECT_TRUE(report->removed.empty());
    EXPECT_EQ(inode(named->path()), named->get().id().inode);
}

TEST_F(NetnsNamedNamespace, ReapRemovesWhatAKilledOwnerLeftAtAnyPoint) {
    const auto body = [&] {
        auto named = NamedNamespace::claim(node, directories_);
        return named.has_value() && named->release().has_value();
    };
    const std::uint64_t points = testing_support::count_kill_points(body);
    ASSERT_GE(points, 7U);

    bool left_something = false;
    for (std::uint64_t n = 1; n <= points; ++n) {
        ASSERT_EQ(testing_support::run_killed_at(n, body), testing_support::ChildEnd::killed) << n;
        left_something = left_something || files() != 0;
        const auto report = reap_dead_owners(directories_);
        ASSERT_TRUE(report) << describe(report.error());
        EXPECT_TRUE(report->left.empty());
        EXPECT_EQ(files(), 0U) << "kill point " << n;
    }
    EXPECT_TRUE(left_something) << "the sweep proved nothing";
}

TEST_F(NetnsNamedNamespace, ReapListsANameThatNoLongerMatchesItsClaim) {
    ASSERT_EQ(
        testing_support::run_killed_at(
            4,
            [&] { // claimed, placed, mounted
                return NamedNamespace::claim(node, directories_).has_value();
            }),
        testing_support::ChildEnd::killed);
    const Namespace foreign = Namespace::create().value();
    const std::filesystem::path path = directories_.names / "promtact-node1";
    const std::string source = "/proc/self/fd/" + std::to_string(foreign.fd());
    ASSERT_EQ(::mount(source.c_str(), path.c_str(), "none", MS_BIND, nullptr), 0);

    const auto report = reap_dead_owners(directories_);
    const std::uint64_t still_there = inode(path);
    ASSERT_EQ(::umount2(path.c_str(), MNT_DETACH), 0);

    ASSERT_TRUE(report);
    EXPECT_EQ(report->left.size(), 1U);
    EXPECT_EQ(still_there, foreign.id().inode);
}

TEST_F(NetnsNamedNamespace, ReleaseRefusesWhatSomebodyMountedOverIt) {
    auto named = NamedNamespace::claim(node, directories_);
    ASSERT_TRUE(named);
    const Namespace foreign = Namespace::create().value();
    const std::string source = "/proc/self/fd/" + std::to_string(foreign.fd());
    ASSERT_EQ(::mount(source.c_str(), named->path().c_str(), "none", MS_BIND, nullptr), 0);

    const auto released = named->release();
    const std::uint64_t still_there = inode(named->path());
    ASSERT_EQ(::umount2(named->path().c_str(), MNT_DETACH), 0);

    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().code, Errc::refused);
    EXPECT_EQ(still_there, foreign.id().inode);
    EXPECT_TRUE(named->release());
}

} // namespace
} // namespace promtact::netns
