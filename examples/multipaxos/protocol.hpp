// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/sim/session.hpp>

#include "node.hpp"

namespace multipaxos {

/// A replicated map on a log of Multi-Paxos, for the clients of a scenario's workload.
promtact::sim::Protocol protocol(const Mutations& mutations = {});

} // namespace multipaxos
