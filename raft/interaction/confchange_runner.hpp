// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Stanzas about configurations: `simple`, `enter-joint` (autoleave=true) and `leave-joint`, with
// steps such as "v1 l2 r3 u4" as input. The output is the configuration and what a leader would
// keep for each member, or why the change is refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <promtact/base/result.hpp>
#include <promtact/raft/configuration.hpp>
#include <promtact/raft/ids.hpp>

#include "datadriven.hpp"

namespace promtact::raft::interaction {

/// Begins without members; the leader's log grows by one entry with every stanza.
class ConfchangeRunner {
  public:
    Result<std::string> operator()(const Stanza& stanza);

  private:
    Configuration configuration_{};
    std::map<NodeId, Index> next_{}; // where each member's log is probed first
    Index last_index_ = 0;
};

} // namespace promtact::raft::interaction
