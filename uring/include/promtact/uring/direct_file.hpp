// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Files and block devices opened for direct I/O, and what the kernel says about their alignment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::uring {

/// Opens with O_DIRECT | O_CLOEXEC added to flags.
/// Errors: unsupported when the filesystem does not do direct I/O ("filesystem does not support
/// O_DIRECT: /x (tmpfs)"), also when it accepts the flag but keeps files in memory; otherwise by
/// errno of open(2).
Result<UniqueFd> open_direct(const std::filesystem::path& path, int flags, unsigned mode = 0640);

/// As open_direct, relative to a directory descriptor.
Result<UniqueFd>
open_direct_at(int directory, const std::string& name, int flags, unsigned mode = 0640);

/// A nameless read-write file in the directory; the kernel removes it when the descriptor closes,
/// also after a kill. Errors: as open_direct.
Result<UniqueFd> open_direct_scratch(const std::filesystem::path& directory);

/// Units: bytes. Source: statx(2) STATX_DIOALIGN; BLKSSZGET for devices of older kernels.
struct DirectAlignment {
    std::uint32_t memory = 0;
    std::uint32_t offset = 0; // also of the length
    bool reported = false;    // false: the kernel did not say, the conservative 4096 is used
};
/// Errors: unsupported when the kernel says that this file cannot do direct I/O.
Result<DirectAlignment> direct_io_alignment(int fd);

/// Units: bytes, 0 when the file offers no atomic write. Source: statx(2) STATX_WRITE_ATOMIC
struct AtomicWriteUnit {
    std::uint32_t minimum = 0;
    std::uint32_t maximum = 0;
    bool reported = false;
};
Result<AtomicWriteUnit> atomic_write_unit(int fd);

/// True when offset and length are multiples of alignment. Requires: alignment > 0
constexpr bool is_aligned(std::uint64_t offset, std::uint64_t length, std::uint64_t alignment) {
    return offset % alignment == 0 && length % alignment == 0;
}

/// Name of the filesystem that holds fd: "ext4", "tmpfs", or its magic number in hex.
std::string filesystem_name(int fd);

} // namespace promtact::uring
