// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A loop device of our own over a nameless file. Its only opener is this process, and the kernel
// clears it when the last opener is gone, so SIGKILL at any moment leaves no device and no file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <promtact/base/block_device.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {

class LoopDevice {
  public:
    struct Options {
        std::filesystem::path directory{}; // filesystem that carries the backing file
        std::uint64_t size_bytes = 0;      // a multiple of 4096
        std::uint32_t sector_bytes = 512;  // logical sector size: 512 .. 4096, a power of two
        bool read_only = false;
    };

    /// Errors: denied naming CAP_SYS_ADMIN; unsupported naming CONFIG_BLK_DEV_LOOP when
    /// /dev/loop-control or the new node is missing; busy when every free device was taken by
    /// others; errors of the backing file.
    /// Source: loop(4), LOOP_CTL_GET_FREE, LOOP_CONFIGURE
    static Result<LoopDevice> create(const Options& options);

    LoopDevice(LoopDevice&&) noexcept = default;
    LoopDevice& operator=(LoopDevice&&) noexcept = default;
    ~LoopDevice() = default;

    /// Releases the device and waits until the kernel has cleared it.
    /// Errors: timeout when it is still bound after two seconds, since another program opened it.
    Result<void> remove();

    [[nodiscard]] const std::string& path() const noexcept { return path_; } // /dev/loop3
    [[nodiscard]] const std::string& name() const noexcept { return name_; } // loop3
    /// False when the backing filesystem took the device without direct I/O.
    [[nodiscard]] bool direct_io() const noexcept { return direct_io_; }
    /// Another descriptor of the device. Errors: of open(2).
    [[nodiscard]] Result<UniqueFd> open(int flags) const;

  private:
    LoopDevice(UniqueFd device, std::string name);

    UniqueFd device_;
    std::string name_;
    std::string path_;
    std::string backing_; // as sysfs names it
    bool direct_io_ = false;
};

} // namespace promtact
