// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "reasons.hpp"

#include <algorithm>

#include <promtact/base/assert.hpp>

namespace promtact::raft::interaction {
namespace {

Index last_configuration_of(const std::map<Index, LogLine>& log) {
    Index last = 0;
    for (const auto& [index, line] : log)
        if (line.configuration) last = index;
    return last;
}

/// Nothing but how far the log is committed and how long it is.
bool only_progress_differs(const KnownState& known, const NodeState& node) {
    KnownState other = known;
    other.commit.reset();
    other.last.reset();
    return contradictions(other, node).empty();
}

/// What both have committed is the same.
bool committed_agree(const KnownState& known, const NodeState& node) {
    const Index both = std::min(known.commit.value_or(0), node.commit);
    KnownState committed;
    committed.log.insert(known.log.begin(), known.log.upper_bound(both));
    return contradictions(committed, node).empty();
}

} // namespace

std::string_view to_string(Reason reason) noexcept {
    switch (reason) {
    case Reason::configuration_on_append:
        return "configuration_on_append";
    case Reason::removed_leader_steps_down:
        return "removed_leader_steps_down";
    case Reason::changes_are_checked:
        return "changes_are_checked";
    }
    return "unknown";
}

void Explainer::see(const Stanza& stanza, const std::vector<NodePair>& pairs) {
    if (stanza.find("disable-conf-change-validation") != nullptr) unchecked_ = true;
    for (const NodePair& pair : pairs) {
        PROMTACT_ASSERT(pair.known != nullptr);
        last_configuration_ = std::max(
            {last_configuration_, last_configuration_of(pair.node.log),
             last_configuration_of(pair.known->log)});
        if (pair.node.role == Role::leader) {
            leaders_.insert(pair.id);
        } else if (leaders_.erase(pair.id) > 0 && !pair.node.member) {
            leader_removed_ = true;
        }
    }
}

std::optional<Reason> Explainer::explain(const std::vector<NodePair>& pairs) const {
    const bool agree = std::all_of(pairs.begin(), pairs.end(), [](const NodePair& pair) {
        return committed_agree(*pair.known, pair.node);
    });
    if (leader_removed_ && agree) return Reason::removed_leader_steps_down;
    if (unchecked_ && last_configuration_ > 0) return Reason::changes_are_checked;
    for (const NodePair& pair : pairs) {
        if (contradictions(*pair.known, pair.node).empty()) continue;
        // The commit index of one of the two has not passed the configuration's entry yet.
        const Index passed = std::min(pair.known->commit.value_or(0), pair.node.commit);
        if (!only_progress_differs(*pair.known, pair.node) || passed >= last_configuration_)
            return std::nullopt;
    }
    return Reason::configuration_on_append;
}

} // namespace promtact::raft::interaction
