// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What reaches the disks below a file: flushes and writes, counted by the block layer, not by us.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <promtact/base/block_device.hpp>
#include <promtact/base/result.hpp>

namespace promtact {

/// Differences of two readings. Everybody's traffic on these disks is counted, not only ours.
struct DiskTraffic {
    std::uint64_t flushes = 0;
    std::uint64_t writes = 0;
    std::uint64_t write_bytes = 0;
    friend bool operator==(const DiskTraffic&, const DiskTraffic&) = default;
    DiskTraffic& operator+=(const DiskTraffic& other) noexcept;
};

/// Later minus earlier; a counter that went backwards (a device was re-made) counts as 0.
DiskTraffic operator-(const DiskTraffic& later, const DiskTraffic& earlier) noexcept;

/// The disks at the bottom of a device's stack. Flushes are counted there: drivers such as dm and
/// md pass them on without counting.
class DiskWatch {
  public:
    /// Errors: unsupported when a disk below has no flush counter (Linux before 5.5, zram).
    static Result<DiskWatch> below(const BlockDeviceFacts& device, const SystemRoots& roots = {});

    [[nodiscard]] const std::vector<BlockDeviceFacts>& disks() const noexcept { return disks_; }
    /// "vda" or "sda+sdb"
    [[nodiscard]] std::string names() const;
    /// True when some disk declares a volatile cache, so that a sync must reach it as a flush.
    [[nodiscard]] bool expects_flushes() const noexcept;

    /// The sums since the devices were made.
    [[nodiscard]] Result<DiskTraffic> read() const;

  private:
    DiskWatch(std::vector<BlockDeviceFacts> disks, SystemRoots roots)
        : disks_(std::move(disks)), roots_(std::move(roots)) {}

    std::vector<BlockDeviceFacts> disks_;
    SystemRoots roots_;
};

} // namespace promtact
