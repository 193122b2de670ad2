// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Why our nodes may differ from etcd's on purpose. A reason holds by a rule about states and
// commands, never for a file; what no rule covers is a difference that nobody has explained.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <promtact/raft/ids.hpp>

#include "datadriven.hpp"
#include "node_state.hpp"

namespace promtact::raft::interaction {

enum class Reason : std::uint8_t {
    /// Ours counts with a configuration from its entry on, etcd's once it is applied: what is
    /// committed around such an entry, and what follows from that, comes sooner or later.
    configuration_on_append,
    /// Ours hands leadership over and steps down once its removal is committed, and a member that
    /// is removed does not stand; etcd's leads on.
    removed_leader_steps_down,
    /// Ours has no way to turn the check of changes off: the change was refused.
    changes_are_checked,
};
inline constexpr std::size_t reasons = 3;

/// One word, as above.
std::string_view to_string(Reason reason) noexcept;

/// One node after a stanza.
struct NodePair {
    NodeId id = no_node;
    const KnownState* known = nullptr;
    NodeState node{};
};

/// Follows a file from its beginning, since some differences stay until its end.
class Explainer {
  public:
    /// Takes a stanza in, whether anything differs after it or not.
    void see(const Stanza& stanza, const std::vector<NodePair>& pairs);
    /// The reason for the differences after the last stanza; nothing when no rule covers all.
    [[nodiscard]] std::optional<Reason> explain(const std::vector<NodePair>& pairs) const;

  private:
    Index last_configuration_ = 0; // the highest index of such an entry, theirs or ours
    std::set<NodeId> leaders_{};   // of ours
    bool leader_removed_ = false;  // and ours has stepped down
    bool unchecked_ = false;       // changes are not checked in theirs
};

} // namespace promtact::raft::interaction
