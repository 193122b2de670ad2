// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <string>

#include <promtact/base/fault.hpp>

namespace promtact::engine {

/// What a node says of itself, for reports.
struct NodeWords {
    NodeId id{};
    bool up = true;
    std::string words{}; // empty when the cluster cannot describe its nodes
    friend bool operator==(const NodeWords&, const NodeWords&) = default;
};

} // namespace promtact::engine
