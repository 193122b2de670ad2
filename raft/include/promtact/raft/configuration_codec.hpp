// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Configurations and changes as bytes, for log entries, snapshots and messages. What decodes is
// valid and encodes to the same bytes again. Integrity is the container's: there is no checksum.
//
// Configuration: u8 version = 1 | u8 flags (bit 0: auto_leave) | u16 0 | u32 voters | u32 outgoing
//   | u32 learners | u32 learners_next | the members of the four sets in this order, u64 each
// Change: u8 version = 1 | u8 transition | u16 0 | u32 steps | u32 context bytes | for each step
//   u8 kind, 7 bytes 0, u64 member | context
// All integers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/raft/configuration.hpp>
#include <promtact/raft/configuration_change.hpp>

namespace promtact::raft {

inline constexpr std::uint8_t configuration_version = 1;

/// Appends to out. Requires: validate(configuration)
void encode(const Configuration& configuration, std::vector<std::byte>& out);

/// Appends to out. Requires: at most change_steps_max steps and change_context_max bytes of context
void encode(const ConfigurationChange& change, std::vector<std::byte>& out);

/// Takes exactly these bytes.
/// Errors: format (another version, unknown flags); corrupt (everything else that encode() does not
/// write, with the place).
Result<Configuration> decode_configuration(std::span<const std::byte> bytes);

/// Takes exactly these bytes.
/// Errors: format (another version); corrupt (everything else that encode() does not write).
Result<ConfigurationChange> decode_change(std::span<const std::byte> bytes);

} // namespace promtact::raft
