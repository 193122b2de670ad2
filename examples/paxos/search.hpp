// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a search of every order of events looks at: P1 to P4 as properties of a state or of one
// action, without a history of their own. What there is of history, nodes keep for checking.
#pragma once

#include <promtact/engine/explore.hpp>

#include "cluster.hpp"

namespace paxos {

/// P1: acceptances of a quorum in one ballot name at most one value, and what a proposer announces
/// is that one.
std::optional<promtact::engine::Broken> two_values(const Cluster& cluster);
/// P2: nothing is accepted below what was accepted before.
std::optional<promtact::engine::Broken> accepted_below(const Cluster& cluster);
/// P2: no action makes a promise smaller, not even a crash.
std::optional<promtact::engine::Broken> promise_fell(const Cluster& before, const Cluster& after);
/// P2: no action makes a node forget what it accepted, not even a crash.
std::optional<promtact::engine::Broken>
acceptance_fell(const Cluster& before, const Cluster& after);
/// P4: only what a client asked for is accepted.
std::optional<promtact::engine::Broken> invented(const Cluster& cluster);
/// P3: no node begins a ballot twice.
std::optional<promtact::engine::Broken> ballot_twice(const Cluster& cluster);

/// P1 to P4, the goals of a run, and clients that ask one node after the other. Whether a value is
/// chosen in the end (L1) is no question of one state: a search does not ask it.
void prepare_search(promtact::engine::Explorer<Cluster>& explorer);

} // namespace paxos
