// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Stanzas about nodes: `add-nodes 3 voters=(1,2,3) index=2`, `campaign 1`, `stabilize`, … carried
// out with our nodes; after each the states are compared with what the transcript tells of etcd's.
#pragma once

#include <span>
#include <string>

#include <promtact/base/result.hpp>

#include "cluster.hpp"
#include "comparison.hpp"
#include "datadriven.hpp"

namespace promtact::raft::interaction {

/// Carries out stanzas. Errors: invalid_argument for one it cannot read or does not know
class InteractionRunner {
  public:
    Result<void> run(const Stanza& stanza);
    [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }

  private:
    Result<void> add_nodes(const Stanza& stanza);
    Result<void> deliver(const Stanza& stanza);
    Result<void> stabilize(const Stanza& stanza);
    Result<void> change_members(const Stanza& stanza);
    Result<void> act(const Stanza& stanza, NodeId id);
    Result<void> each(const Stanza& stanza, bool (*move)(Cluster&, NodeId));

    Cluster cluster_{};
    bool lease_reads_ = false;
};

/// Every stanza is run and compared in states.
Comparison compare_states(std::span<const Stanza> stanzas);

} // namespace promtact::raft::interaction
