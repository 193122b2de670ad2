// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The one way to a descriptor that may overwrite a block device: an operator named it, typed its
// name again, stated its size, and nothing on this host uses it.
#pragma once

#include <cstdint>
#include <string>

#include <promtact/base/block_device.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {

struct DestroyRequest {
    std::string device{};       // as typed; may be a symbolic link such as /dev/disk/by-id/...
    std::string confirmation{}; // exactly "ERASE:" and the canonical path
    std::uint64_t expected_size = 0;
    std::uint64_t start_block = 0;
    std::uint64_t blocks = 0; // 1 .. 1,000,000
    std::uint32_t block_bytes = 4096;
};

/// A device claimed for us alone while the descriptor is open.
struct ClaimedDevice {
    std::string path{}; // canonical
    BlockDeviceFacts facts{};
    UniqueFd file{}; // O_RDWR, O_DIRECT, O_EXCL
    std::uint64_t first_byte = 0;
    std::uint64_t bytes = 0;
};

/// Opens the device after every refusal below was considered, in this order: the path does not
/// resolve; it is /dev/sda or outside /dev; the confirmation is not exact; the size or the count is
/// missing or out of range; it is not a block device; it is the disk under / (through partitions,
/// dm and md); it is a partition; it is read-only; its size differs; it, a partition or a holder is
/// mounted or swap; it has partitions, holders, or backs a loop device; the range wraps or passes
/// the end; somebody else holds it (O_EXCL) for more than a second.
/// Errors: refused with one clear sentence; denied when opening needs a privilege.
/// Source: the O_EXCL rule for block devices is in open(2).
Result<ClaimedDevice> claim_for_destruction(const DestroyRequest& request);

/// The same refusals without opening anything: all but the last. Errors: as above
Result<void> check_destruction(const DestroyRequest& request);

/// The refusals that need no open descriptor, over the given views of the kernel.
/// canonical: the resolved path; number: its device number.
/// Errors: refused.
Result<BlockDeviceFacts> check_unused(
    const DestroyRequest& request, const std::string& canonical, DeviceNumber number,
    const SystemRoots& roots = {});

/// The refusals that look at the request alone. Errors: refused.
Result<void> check_request(const DestroyRequest& request, const std::string& canonical);

} // namespace promtact
