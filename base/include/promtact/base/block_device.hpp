// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the kernel says about a block device, and which block device carries a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/mount_table.hpp>
#include <promtact/base/result.hpp>

namespace promtact {

/// A fact the kernel does not offer is empty or nullopt: "unknown" is a legal answer.
struct BlockDeviceFacts {
    DeviceNumber number{};
    std::string name{}; // vda1, as in sysfs
    std::string disk{}; // vda: the whole disk; equal to name unless a partition
    std::uint64_t size_bytes = 0;
    std::uint32_t logical_sector_bytes = 0;
    std::uint32_t physical_sector_bytes = 0;
    bool read_only = false;
    std::optional<bool> rotational{};
    std::string write_cache{}; // "write back" or "write through"
    std::optional<bool> fua{};
    std::string scheduler{}; // the active one: "mq-deadline"
    std::string model{};
    std::uint64_t atomic_write_unit_max_bytes = 0;
    std::vector<std::string> partitions{}; // names; empty for a partition
    std::vector<std::string> holders{};    // devices built on this one or its partitions (dm, md)
    std::vector<std::string> slaves{};     // devices this one is built on

    [[nodiscard]] bool is_partition() const noexcept { return name != disk; }
    /// A flush command is only sent when the device declares a volatile cache.
    [[nodiscard]] bool has_volatile_cache() const noexcept { return write_cache == "write back"; }
};

/// Errors: not_found when sysfs knows no block device of that number; format for a damaged size.
Result<BlockDeviceFacts> read_block_device(DeviceNumber number, const SystemRoots& roots = {});
/// By kernel name: "vda1".
Result<BlockDeviceFacts> find_block_device(const std::string& name, const SystemRoots& roots = {});

/// Cumulative counters of a whole disk. Source: Documentation/block/stat.rst
struct BlockCounters {
    std::uint64_t writes = 0;
    std::uint64_t write_bytes = 0;
    /// Flush requests the device completed; nullopt before Linux 5.5. The block layer merges
    /// concurrent flushes, and bio-based drivers (dm, md, zram) do not count them.
    std::optional<std::uint64_t> flushes{};
};

/// disk: BlockDeviceFacts::disk, since flushes are counted for whole disks only.
Result<BlockCounters> read_block_counters(const std::string& disk, const SystemRoots& roots = {});

/// The filesystem that carries an open file, and the block device below it.
struct FileLocation {
    Mount mount{};
    BlockDeviceFacts device{};
};

/// The mount an open descriptor lives on; works for filesystems without a block device too.
/// Errors: not_found when its mount is in none of our mounts (a detached mount).
Result<Mount> mount_of(int fd, const SystemRoots& roots = {});

/// Errors: unsupported, naming the filesystem, when it has no single block device (tmpfs, overlay,
/// NFS); not_found as in mount_of().
Result<FileLocation> locate(int fd, const SystemRoots& roots = {});
Result<FileLocation> locate(const std::filesystem::path& path, const SystemRoots& roots = {});

/// Every device a device stands on: its disk, its slaves, their disks and slaves, and itself.
std::vector<std::string>
devices_below(const BlockDeviceFacts& device, const SystemRoots& roots = {});

} // namespace promtact
