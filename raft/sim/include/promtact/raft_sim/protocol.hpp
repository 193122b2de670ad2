// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Raft as a protocol of the simulation commands: the real core, a store in memory that takes its
// time and forgets what was not durable, and the replicated map behind it.
#pragma once

#include <promtact/sim/session.hpp>

namespace promtact::raft_sim {

/// For simulate, sweep, replay, shrink and diff. Commands of proposeEvery are puts at whoever takes
/// itself for the leader; clients of a workload read, write and compare-and-set.
sim::Protocol protocol();

} // namespace promtact::raft_sim
