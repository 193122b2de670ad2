// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Stanzas about quorums: `committed cfg=(1,2) cfgj=(2,3) idx=(5,_,7)` and
// `vote cfg=(1,2) votes=(y,_)`. The values belong to the members of cfg and then of cfgj, each
// member once; _ says nothing about a member; `cfgj=zero` is a joint configuration whose second
// set is empty.
#pragma once

#include <string>

#include <promtact/base/result.hpp>

#include "datadriven.hpp"

namespace promtact::raft::interaction {

/// What is decided, with a picture of the indexes for `committed`. Says so when a rule that must
/// not matter (the order of the sets, a second set that is empty or the same) does.
Result<std::string> run_quorum(const Stanza& stanza);

} // namespace promtact::raft::interaction
