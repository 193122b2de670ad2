// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The refusals on real devices: loop devices this test makes.
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/blkpg.h>
#include <linux/loop.h>

#include <promtact/base/destroy_guard.hpp>
#include <promtact/base/loop_device.hpp>

namespace promtact {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t device_bytes = 4 << 20;

class DestroyGuardKernel : public ::testing::Test {
  protected:
    void SetUp() override {
        auto made = LoopDevice::create(
            {.directory = std::filesystem::temp_directory_path(), .size_bytes = device_bytes});
        if (!made) GTEST_SKIP() << "needs a loop device: " << made.error().context;
        device_ = std::make_unique<LoopDevice>(std::move(*made));
        request_ = {
            .device = device_->path(),
            .confirmation = "ERASE:" + device_->path(),
            .expected_size = device_bytes,
            .start_block = 1,
            .blocks = 4};
    }
    void TearDown() override {
        if (!device_) return;
        EXPECT_TRUE(device_->remove());
    }
    std::string refusal() {
        const auto claim = claim_for_destruction(request_);
        if (claim) return "accepted";
        EXPECT_EQ(claim.error().code, Errc::refused);
        return claim.error().context;
    }

    std::unique_ptr<LoopDevice> device_;
    DestroyRequest request_;
};

TEST_F(DestroyGuardKernel, ClaimsAnUnusedDeviceForUsAlone) {
    auto claim = claim_for_destruction(request_);

    ASSERT_TRUE(claim) << claim.error().context;
    EXPECT_EQ(claim->path, device_->path());
    EXPECT_EQ(claim->first_byte, 4096U);
    EXPECT_EQ(claim->bytes, 4U * 4096);
    EXPECT_NE(::fcntl(claim->file.get(), F_GETFL) & O_DIRECT, 0);
    EXPECT_THAT(refusal(), HasSubstr("in use by the kernel or a program"))
        << "a second claim must fail while the first is open";
}

TEST_F(DestroyGuardKernel, FollowsALinkButConfirmsTheCanonicalPath) {
    const std::string link =
        std::filesystem::temp_directory_path() / ("promtact-link-" + std::to_string(::getpid()));
    ASSERT_EQ(::symlink(device_->path().c_str(), link.c_str()), 0);
    request_.device = link;

    EXPECT_EQ(refusal(), "accepted");
    request_.confirmation = "ERASE:" + link;
    EXPECT_THAT(refusal(), HasSubstr("must be exactly ERASE:" + device_->path()));

    ::unlink(link.c_str());
}

TEST_F(DestroyGuardKernel, RefusesAWrongSizeAndARangePastTheEnd) {
    request_.expected_size = device_bytes + 512;
    EXPECT_THAT(refusal(), HasSubstr("expected were"));

    request_.expected_size = device_bytes;
    request_.start_block = device_bytes / 4096 - 3;
    EXPECT_THAT(refusal(), HasSubstr("beyond " + device_->path()));
}

TEST_F(DestroyGuardKernel, RefusesTheDiskUnderRootWhateverItsName) {
    const auto root = locate(std::filesystem::path("/"));
    if (!root) GTEST_SKIP() << "needs a / on a block device: " << root.error().context;
    request_.device = "/dev/" + root->device.disk;
    request_.confirmation = "ERASE:" + request_.device;
    request_.expected_size = root->device.size_bytes;
    if (!std::filesystem::exists(request_.device)) GTEST_SKIP() << "needs " << request_.device;

    EXPECT_THAT(refusal(), ::testing::AnyOf(HasSubstr("carries /"), HasSubstr("by name")));
}

TEST_F(DestroyGuardKernel, RefusesAReadOnlyDevice) {
    auto read_only = LoopDevice::create(
        {.directory = std::filesystem::temp_directory_path(),
         .size_bytes = device_bytes,
         .read_only = true});
    ASSERT_TRUE(read_only);
    request_.device = read_only->path();
    request_.confirmation = "ERASE:" + read_only->path();

    EXPECT_THAT(refusal(), HasSubstr("is read-only"));

    EXPECT_TRUE(read_only->remove());
}

TEST_F(DestroyGuardKernel, RefusesADeviceThatBacksAnother) {
    const UniqueFd control{::open("/dev/loop-control", O_RDWR | O_CLOEXEC)};
    const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
    ASSERT_GE(number, 0);
    UniqueFd upper{::open(("/dev/loop" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC)};
    UniqueFd lower{::open(device_->path().c_str(), O_RDWR | O_CLOEXEC)};
    loop_config config{};
    config.fd = static_cast<__u32>(lower.get());
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    ASSERT_EQ(::ioctl(upper.get(), LOOP_CONFIGURE, &config), 0);
    lower.reset();

    EXPECT_THAT(refusal(), HasSubstr("backs loop" + std::to_string(number)));

    upper.reset();
}

TEST_F(DestroyGuardKernel, RefusesADeviceWithPartitionsAndAPartition) {
    const UniqueFd file{::open(device_->path().c_str(), O_RDWR | O_CLOEXEC)};
    loop_info64 info{};
    ASSERT_EQ(::ioctl(file.get(), LOOP_GET_STATUS64, &info), 0);
    info.lo_flags |= LO_FLAGS_PARTSCAN;
    ASSERT_EQ(::ioctl(file.get(), LOOP_SET_STATUS64, &info), 0);
    blkpg_partition part{};
    part.start = 1 << 20;
    part.length = 1 << 20;
    part.pno = 1;
    blkpg_ioctl_arg arg{};
    arg.op = BLKPG_ADD_PARTITION;
    arg.datalen = sizeof part;
    arg.data = &part;
    if (::ioctl(file.get(), BLKPG, &arg) != 0) GTEST_SKIP() << "needs BLKPG on loop devices";

    EXPECT_THAT(refusal(), HasSubstr("has partitions: " + device_->name() + "p1"));
    request_.device = device_->path() + "p1";
    request_.confirmation = "ERASE:" + request_.device;
    request_.expected_size = 1 << 20;
    EXPECT_THAT(refusal(), HasSubstr("is a partition of " + device_->name()));

    arg.op = BLKPG_DEL_PARTITION;
    EXPECT_EQ(::ioctl(file.get(), BLKPG, &arg), 0);
}

// Runs in a child with mounts of its own, so that they vanish with it.
int check_mounted(const DestroyRequest& request, int ready, int go) {
    if (::unshare(CLONE_NEWNS) != 0) return 77;
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (::mount(request.device.c_str(), "/mnt", "ext4", 0, nullptr) != 0) return 77;
    const auto claim = claim_for_destruction(request);
    if (claim || claim.error().context != request.device + " is mounted at /mnt") return 1;
    char byte = 0;
    if (::write(ready, &byte, 1) != 1 || ::read(go, &byte, 1) < 0) return 2;
    return 0;
}

TEST_F(DestroyGuardKernel, RefusesAMountedDeviceEvenWhenTheMountIsInvisibleFromHere) {
    const pid_t maker = ::fork();
    if (maker == 0) {
        ::execlp(
            "mkfs.ext4", "mkfs.ext4", "-q", "-F", device_->path().c_str(),
            static_cast<char*>(nullptr));
        ::_exit(77);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(maker, &status, 0), maker);
    if (WEXITSTATUS(status) != 0) GTEST_SKIP() << "needs mkfs.ext4";
    int ready[2];
    int go[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(go[1]); // so that the parent's death ends the wait
        ::_exit(check_mounted(request_, ready[1], go[0]));
    }
    ::close(ready[1]);
    char byte = 0;
    const bool mounted = ::read(ready[0], &byte, 1) == 1;

    if (mounted) {
        EXPECT_THAT(refusal(), HasSubstr("in use by the kernel or a program"));
    }

    ::close(go[1]);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs to mount ext4";
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(mounted);
    ::close(ready[0]);
    ::close(go[0]);
}

} // namespace
} // namespace promtact
