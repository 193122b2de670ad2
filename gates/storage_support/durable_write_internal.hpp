// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The shared body of durable_write_file and durable_write_block: every write flushed, every flush
// seen at the disk, every block read back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <promtact/base/disk_watch.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/gates/gate.hpp>
#include <promtact/uring/block_writer.hpp>

namespace promtact::gates {

/// Where to write: blocks that exist already, so that a write changes no metadata.
struct DurableTarget {
    UniqueFd writer{}; // O_RDWR | O_DIRECT
    UniqueFd reader{}; // another O_DIRECT descriptor of the same target
    std::uint64_t first_byte = 0;
    BlockDeviceFacts device{};
    std::string kind{};       // "file", "loop device", "block device"
    std::string filesystem{}; // "ext4"; "none" for a block device
};

struct DurablePlan {
    std::uint64_t segments = 0;
    std::uint64_t operations_per_segment = 0;
    [[nodiscard]] std::uint64_t operations() const noexcept {
        return segments * operations_per_segment;
    }
};
DurablePlan durable_plan(const GateContext& context) noexcept;

/// Writes by the given mode and asks for the evidence of a flush per write, whatever the mode.
/// Errors: of the ring and the device; unsupported when flushes cannot be seen or told apart from
/// those of others.
Result<GateReport>
run_durable_writes(const GateContext& context, DurableTarget target, uring::WriteMode mode);

} // namespace promtact::gates
