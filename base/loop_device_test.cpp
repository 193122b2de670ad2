// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/base/loop_device.hpp>

#include "small_file_internal.hpp"
#include "temporary_directory.hpp"

namespace promtact {
namespace {

namespace fs = std::filesystem;

// Bound loop devices with their backing file, as far as that lies in `directory`: other programs'
// devices come and go.
std::set<std::string> inventory(const fs::path& directory) {
    std::set<std::string> bound;
    for (const auto& entry : fs::directory_iterator("/sys/block")) {
        const auto backing = read_trimmed((entry.path() / "loop/backing_file").string());
        if (backing && backing->starts_with(directory.string()))
            bound.insert(entry.path().filename().string() + " " + *backing);
    }
    return bound;
}

bool becomes_empty(const fs::path& directory) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < deadline) {
        if (inventory(directory).empty()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}

class LoopDeviceTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto device = LoopDevice::create({.directory = directory_, .size_bytes = 1 << 20});
        if (!device) GTEST_SKIP() << "needs a loop device: " << device.error().context;
        ASSERT_TRUE(device->remove());
    }
    test_support::TemporaryDirectory temporary_{};
    fs::path directory_ = temporary_.path();
};

TEST_F(LoopDeviceTest, IsABlockDeviceOfTheRightSizeAndIsGoneAfterRemove) {
    auto device = LoopDevice::create({.directory = directory_, .size_bytes = 3 << 20});
    ASSERT_TRUE(device) << device.error().context;
    EXPECT_EQ(inventory(directory_).size(), 1U) << "the control: the inventory sees it";
    auto file = device->open(O_RDWR);
    ASSERT_TRUE(file);

    const auto counters = read_block_counters(device->name());
    EXPECT_TRUE(counters);
    EXPECT_EQ(::lseek(file->get(), 0, SEEK_END), 3 << 20);

    file->reset();
    EXPECT_TRUE(device->remove());
    EXPECT_TRUE(inventory(directory_).empty());
}

TEST_F(LoopDeviceTest, CountsAFlushPerSync) {
    auto device = LoopDevice::create({.directory = directory_, .size_bytes = 1 << 20});
    ASSERT_TRUE(device);
    auto file = device->open(O_RDWR);
    ASSERT_TRUE(file);
    const auto start = read_block_counters(device->name());
    ASSERT_TRUE(start);

    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(::pwrite(file->get(), "x", 1, i * 4096), 1);
        ASSERT_EQ(::fdatasync(file->get()), 0);
    }

    const auto end = read_block_counters(device->name());
    ASSERT_TRUE(end);
    ASSERT_TRUE(end->flushes.has_value());
    EXPECT_EQ(*end->flushes - *start->flushes, 10U);
    file->reset();
    EXPECT_TRUE(device->remove());
}

TEST_F(LoopDeviceTest, SaysSoWhenSomebodyElseStillHoldsIt) {
    auto device = LoopDevice::create({.directory = directory_, .size_bytes = 1 << 20});
    ASSERT_TRUE(device);
    auto held = device->open(O_RDONLY);
    ASSERT_TRUE(held);

    const auto result = device->remove();

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::timeout);
    held->reset();
    EXPECT_TRUE(becomes_empty(directory_));
}

TEST_F(LoopDeviceTest, LeavesNothingWhenKilledAtAnyPoint) {
    std::uint64_t points = 0;
    for (bool killed = true; killed;) {
        const pid_t child = ::fork();
        if (child == 0) {
            arm_kill_point(points + 1);
            auto device = LoopDevice::create({.directory = directory_, .size_bytes = 1 << 20});
            if (device) static_cast<void>(device->remove());
            ::_exit(0);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (killed) ++points;
        EXPECT_TRUE(becomes_empty(directory_)) << "after point " << points;
    }
    EXPECT_GE(points, 4U);
}

TEST_F(LoopDeviceTest, ManyAtOnceDoNotTakeEachOthersDevice) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            for (int round = 0; round < 5; ++round) {
                auto device = LoopDevice::create({.directory = directory_, .size_bytes = 1 << 20});
                if (!device || !device->remove()) ::_exit(1);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    EXPECT_TRUE(becomes_empty(directory_));
}

TEST(LoopDevice, NamesTheCapabilityWithoutPrivilege) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to drop it";
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setuid(65534) != 0) ::_exit(3);
        const auto device = LoopDevice::create({.directory = "/tmp", .size_bytes = 1 << 20});
        const bool named = !device && (device.error().code == Errc::denied ||
                                       device.error().code == Errc::unsupported);
        ::_exit(named ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

} // namespace
} // namespace promtact
