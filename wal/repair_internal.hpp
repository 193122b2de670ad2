// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What planning and carrying out a repair share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/wal/format.hpp>

#include "snapshot_pump_internal.hpp"

namespace promtact::wal {

inline constexpr std::size_t copy_chunk_bytes = 256U << 10;
/// SUPER while it is written, and a copy while it is made: without meaning until renamed.
inline constexpr std::string_view super_repair_name = "SUPER.repair";
inline constexpr std::string_view quarantine_part_suffix = ".quarantine-part";

/// Whether [from, to) of a file holds anything but zeros, or is not all there.
Result<bool>
has_content(SnapshotPump& pump, std::string_view name, std::uint64_t from, std::uint64_t to);

} // namespace promtact::wal
