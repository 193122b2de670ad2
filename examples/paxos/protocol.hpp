// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/sim/session.hpp>

#include "node.hpp"

namespace paxos {

/// Paxos for the commands. A client command makes the next node in turn propose a value of its own.
promtact::sim::Protocol protocol(const Mutations& mutations = {});

} // namespace paxos
