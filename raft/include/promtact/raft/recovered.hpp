// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a store found when it was opened.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <promtact/raft/entries.hpp>
#include <promtact/raft/message.hpp>
#include <promtact/raft/output.hpp>

namespace promtact::raft {

/// A snapshot that had not arrived whole.
struct PartialSnapshot {
    NodeId from = no_node;
    SnapshotMeta meta{};
    std::uint64_t bytes = 0; // that are durable
};

struct Recovered {
    HardState hard{};
    /// The last whole snapshot. A new cluster's members all begin with one of index 0 that holds
    /// its configuration; who joins a running cluster begins with nothing.
    SnapshotMeta snapshot{};
    /// What follows, consecutive. May begin before the snapshot's end, and is ignored when a
    /// snapshot was installed over it.
    std::vector<Entries> entries{};
    /// What the state machine has applied, when it remembers more than the snapshot.
    Index applied = 0;
    std::optional<PartialSnapshot> partial{};
};

} // namespace promtact::raft
