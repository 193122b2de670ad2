// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <utility>

#include <promtact/base/assert.hpp>

#include "interaction_runner.hpp"
#include "reasons.hpp"
#include "transcript.hpp"

namespace promtact::raft::interaction {
namespace {

/// Every node of which something is known: as of its last batch, and as the stanza shows it.
std::vector<NodePair> pair_up(const Transcript& transcript, Cluster& cluster) {
    std::vector<NodePair> pairs;
    for (const auto& [id, known] : transcript.nodes()) {
        if (cluster.core(id) != nullptr) pairs.push_back({id, &known, cluster.visible(id)});
    }
    for (const auto& [id, known] : transcript.shown()) {
        if (cluster.core(id) != nullptr) pairs.push_back({id, &known, cluster.present(id)});
    }
    return pairs;
}

std::string differences_of(const std::vector<NodePair>& pairs) {
    std::string text;
    for (const NodePair& pair : pairs) {
        for (const std::string& what : contradictions(*pair.known, pair.node))
            text += "node " + std::to_string(pair.id) + ": " + what + "\n";
    }
    return text;
}

} // namespace

Comparison compare_states(std::span<const Stanza> stanzas) {
    Comparison comparison;
    InteractionRunner runner;
    Transcript transcript;
    Explainer explainer;
    for (const Stanza& stanza : stanzas) {
        ++comparison.stanzas;
        transcript.read(stanza);
        const auto done = runner.run(stanza);
        const std::vector<NodePair> pairs = pair_up(transcript, runner.cluster());
        explainer.see(stanza, pairs);
        Difference difference{.line = stanza.line, .command = stanza.command};
        difference.actual = differences_of(pairs);
        if (!done) difference.actual += "cannot run: " + done.error().context + "\n";
        bool known = !done;
        for (const NodePair& pair : pairs)
            known = known || !pair.known->empty();
        comparison.compared += known ? 1 : 0;
        if (difference.actual.empty()) {
            ++comparison.equal;
            continue;
        }
        if (const auto reason = explainer.explain(pairs); reason && done) {
            difference.reason = to_string(*reason);
            ++comparison.intended[difference.reason];
        }
        comparison.differences.push_back(std::move(difference));
    }
    return comparison;
}

} // namespace promtact::raft::interaction
