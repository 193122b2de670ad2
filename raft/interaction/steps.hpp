// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Changes of the members as files write them: "v1 l2 r3 u4" for a voter, a learner, a removal and
// an update.
#pragma once

#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/raft/configuration_change.hpp>

namespace promtact::raft::interaction {

/// Errors: invalid_argument naming the word
Result<std::vector<ConfigurationStep>> read_steps(std::string_view input);

} // namespace promtact::raft::interaction
