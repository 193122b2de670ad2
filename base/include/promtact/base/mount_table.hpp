// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The mounts and swap areas this process can see, as the kernel lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact {

/// Where the kernel's views are mounted. A test points them at a directory it made.
struct SystemRoots {
    std::string sys = "/sys";
    std::string proc = "/proc";
};

/// How the kernel names a device, in stat(2) and mountinfo.
struct DeviceNumber {
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    friend bool operator==(const DeviceNumber&, const DeviceNumber&) = default;
    friend auto operator<=>(const DeviceNumber&, const DeviceNumber&) = default;
};

/// "254:0"
std::string to_string(DeviceNumber number);

/// The device number of a dev_t as stat(2) reports it.
DeviceNumber device_number(std::uint64_t dev) noexcept;

/// One line of mountinfo.
struct Mount {
    std::uint64_t id = 0;
    DeviceNumber device{}; // major 0 for filesystems without one device (btrfs, overlay, tmpfs)
    std::string mount_point{};
    std::string filesystem{}; // ext4
    std::string source{};     // /dev/vda
    std::string options{};    // mount options, then the superblock's, comma separated
};

/// Parses the text of /proc/self/mountinfo. Errors: format naming the line.
/// Source: proc_pid_mountinfo(5); octal escapes are decoded.
Result<std::vector<Mount>> parse_mounts(std::string_view text);

/// Errors: what reading <proc>/self/mountinfo gives.
Result<std::vector<Mount>> read_mounts(const SystemRoots& roots = {});

/// The first column of /proc/swaps: devices and files. An absent file (a kernel without swap) is
/// no swap. Source: proc(5).
Result<std::vector<std::string>> read_swaps(const SystemRoots& roots = {});

} // namespace promtact
