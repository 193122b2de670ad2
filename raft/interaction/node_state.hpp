// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a transcript says about a node, and what a node of ours is: the two that are compared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <promtact/raft/core.hpp>
#include <promtact/raft/ids.hpp>
#include <promtact/raft/status.hpp>

namespace promtact::raft::interaction {

/// An entry as transcripts show it; what a configuration entry holds is not compared.
struct LogLine {
    Term term = 0;
    bool configuration = false;
    std::string payload{}; // of commands; empty for those without
    friend bool operator==(const LogLine&, const LogLine&) = default;
};

/// A node at one moment. Terms are counted as in transcripts.
struct NodeState {
    Role role = Role::follower;
    Term term = 0;
    NodeId vote = no_node;
    NodeId leader = no_node;
    Index commit = 0;
    Index last = 0;
    std::map<Index, LogLine> log{}; // what is not compacted away
    bool member = true;             // votes in its own configuration
    friend bool operator==(const NodeState&, const NodeState&) = default;
};

/// Terms of ours are higher by `offset`: a cluster of etcd's that begins with a snapshot begins
/// with term 0 although the snapshot has term 1, which is no state of ours.
NodeState state_of(const Core& core, Term offset);

/// What is known of a node; nothing where the transcript is silent.
struct KnownState {
    std::optional<Role> role{};
    std::optional<Term> term{};
    std::optional<NodeId> vote{};
    std::optional<NodeId> leader{};
    std::optional<Index> commit{};
    std::optional<Index> last{};
    std::map<Index, LogLine> log{};

    [[nodiscard]] bool empty() const noexcept;
};

/// Where they contradict each other: "commit 3 instead of 4", … Entries are compared where both
/// have them.
std::vector<std::string> contradictions(const KnownState& known, const NodeState& node);

} // namespace promtact::raft::interaction
