// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads states out of the outputs that etcd's raft has printed for its own nodes. What a node is
// becomes known when it hands out a batch ("handling Ready") and when a command shows it; what
// outputs leave out is forgotten as soon as it may have changed.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include <promtact/raft/ids.hpp>

#include "datadriven.hpp"
#include "node_state.hpp"

namespace promtact::raft::interaction {

class Transcript {
  public:
    /// Takes the next stanza in.
    void read(const Stanza& stanza);

    /// As of the last batch of each node.
    [[nodiscard]] const std::map<NodeId, KnownState>& nodes() const noexcept { return nodes_; }
    /// As of the end of the last stanza: what it showed on demand, of any node.
    [[nodiscard]] const std::map<NodeId, KnownState>& shown() const noexcept { return shown_; }

  private:
    enum class Section : std::uint8_t { none, batch, entries, skipped };

    void read_batches(const Stanza& stanza);
    void read_batch_line(KnownState& node, std::string_view line, Section& section);
    void read_new_nodes(const Stanza& stanza);
    void read_states(std::string_view text);
    void read_log(const Stanza& stanza);

    std::map<NodeId, KnownState> nodes_{};
    std::map<NodeId, KnownState> shown_{};
    bool silent_ = false; // outputs are turned off
};

} // namespace promtact::raft::interaction
