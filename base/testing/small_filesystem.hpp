// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Test support: a filesystem on a loop device of our own, mounted where only this process sees it,
// so that nothing remains however the process ends. Needs root.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fs.h>

#include <promtact/base/loop_device.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::test_support {

class SmallFilesystem {
  public:
    static constexpr std::uint64_t device_bytes = std::uint64_t{512} << 20; // sparse

    /// A fresh filesystem of the type on a new device, mounted on `mount_point`.
    /// Errors: denied (not root), unsupported (no mkfs of that type, not in this kernel)
    static Result<SmallFilesystem> make(
        const std::filesystem::path& backing_directory, const std::filesystem::path& mount_point,
        std::string type) {
        if (::unshare(CLONE_NEWNS) != 0) return Error::from_errno(errno, "needs CAP_SYS_ADMIN");
        if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return Error::from_errno(errno, "make the mounts private");
        PROMTACT_TRY_ASSIGN(
            LoopDevice device,
            LoopDevice::create({.directory = backing_directory, .size_bytes = device_bytes}));
        PROMTACT_TRY(format(type, device.path()));
        SmallFilesystem made(std::move(device), mount_point, std::move(type));
        PROMTACT_TRY(made.mount());
        return made;
    }

    SmallFilesystem(SmallFilesystem&& other) noexcept
        : device_(std::move(other.device_)), mount_point_(std::move(other.mount_point_)),
          type_(std::move(other.type_)), mounted_(std::exchange(other.mounted_, false)) {}
    SmallFilesystem& operator=(SmallFilesystem&&) = delete;
    SmallFilesystem(const SmallFilesystem&) = delete;
    SmallFilesystem& operator=(const SmallFilesystem&) = delete;
    ~SmallFilesystem() {
        if (mounted_) static_cast<void>(::umount2(mount_point_.c_str(), MNT_DETACH));
    }

    /// The kernel writes no inode tables behind the tests' backs: of this device they are 32 MiB.
    /// Source: Documentation/admin-guide/ext4.rst, noinit_itable
    Result<void> mount() {
        const char* options = type_ == "ext4" ? "noinit_itable" : nullptr;
        if (::mount(device_.path().c_str(), mount_point_.c_str(), type_.c_str(), 0, options) != 0) {
            if (errno == ENODEV) return Error{Errc::unsupported, ENODEV, "needs " + type_};
            return Error::from_errno(errno, "mount " + type_);
        }
        mounted_ = true;
        return {};
    }
    /// Waits for files that the kernel lets go of late, as a ring's are.
    Result<void> unmount() {
        for (int i = 0; ::umount2(mount_point_.c_str(), 0) != 0; ++i) {
            if (errno != EBUSY || i == 500) return Error::from_errno(errno, "unmount " + type_);
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        mounted_ = false;
        return {};
    }

    /// Takes all space and gives about `bytes` back.
    [[nodiscard]] Result<void> leave(std::uint64_t bytes) const {
        const std::string path = mount_point_ / "ballast";
        const UniqueFd file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
        if (!file) return Error::from_errno(errno, "make the ballast");
        std::uint64_t taken = 0;
        for (std::uint64_t step = std::uint64_t{64} << 20; step >= (1U << 20); step /= 2) {
            const auto length = static_cast<off_t>(step);
            while (::fallocate(file.get(), 0, static_cast<off_t>(taken), length) == 0)
                taken += step;
        }
        if (taken < bytes) return Error{Errc::no_space, ENOSPC, "the filesystem is too small"};
        if (::ftruncate(file.get(), static_cast<off_t>(taken - bytes)) != 0 ||
            ::syncfs(file.get()) != 0) {
            return Error::from_errno(errno, "give space back");
        }
        return {};
    }

    /// Every later write fails with EIO, and what the journal holds in memory is dropped.
    /// Source: FS_IOC_SHUTDOWN with the flag NOLOGFLUSH, linux/fs/ext4/ioctl.c, linux/fs/xfs
    [[nodiscard]] Result<void> shut_down() const {
        constexpr unsigned long request = _IOR('X', 125, std::uint32_t);
        std::uint32_t no_log_flush = 2;
        const UniqueFd root{::open(mount_point_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (!root) return Error::from_errno(errno, "open the filesystem's root");
        if (::ioctl(root.get(), request, &no_log_flush) != 0)
            return Error::from_errno(errno, "shut " + type_ + " down");
        return {};
    }

    struct DeviceCounts {
        std::uint64_t bytes_written = 0;
        std::uint64_t flushes = 0;
    };
    /// Source: Documentation/block/stat.rst, fields 7 and 16
    [[nodiscard]] DeviceCounts counts() const {
        std::ifstream file("/sys/block/" + device_.name() + "/stat");
        std::vector<std::uint64_t> fields;
        for (std::uint64_t field = 0; file >> field;)
            fields.push_back(field);
        if (fields.size() < 16) return {};
        return {.bytes_written = fields[6] * 512, .flushes = fields[15]};
    }

  private:
    SmallFilesystem(LoopDevice device, std::filesystem::path mount_point, std::string type)
        : device_(std::move(device)), mount_point_(std::move(mount_point)), type_(std::move(type)) {
    }

    static Result<void> format(const std::string& type, const std::string& device) {
        std::string program = "mkfs." + type;
        std::string quiet = "-q";
        std::string path = device;
        char* words[] = {program.data(), quiet.data(), path.data(), nullptr};
        pid_t child = -1;
        const int failed =
            ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, ::environ);
        if (failed != 0) return Error{Errc::unsupported, failed, "needs " + program};
        int status = 0;
        if (::waitpid(child, &status, 0) != child || !WIFEXITED(status))
            return Error{Errc::io, 0, program + " was killed"};
        if (WEXITSTATUS(status) == 127) return Error{Errc::unsupported, 0, "needs " + program};
        if (WEXITSTATUS(status) != 0) return Error{Errc::io, 0, program + " failed"};
        return {};
    }

    LoopDevice device_;
    std::filesystem::path mount_point_;
    std::string type_;
    bool mounted_ = false;
};

} // namespace promtact::test_support
