// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The three numbers of Raft. They are plain integers, since the protocol compares, adds and stores
// them everywhere; what may not be mixed up is told apart by the names of fields.
#pragma once

#include <cstdint>

namespace promtact::raft {

/// A member of the cluster. 0 is nobody: no vote given, no leader known.
using NodeId = std::uint64_t;
/// A term. 0 is the time before the first election; no entry has it except the one "before" the
/// log.
using Term = std::uint64_t;
/// A position in the log. The first entry has 1; 0 is the empty place before it.
using Index = std::uint64_t;

inline constexpr NodeId no_node = 0;

} // namespace promtact::raft
