// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "cluster.hpp"

namespace paxos {

using promtact::engine::Broken;

std::string Cluster::describe(const Message& message) const {
    const std::string ballot = " " + std::to_string(message.ballot);
    switch (message.kind) {
    case Kind::prepare:
        return "prepare" + ballot;
    case Kind::promise:
        if (!message.ok) return "no promise" + ballot;
        return "promise" + ballot +
               (message.accepted_ballot > 0
                    ? " (accepted " + std::to_string(message.accepted_value) + " in " +
                          std::to_string(message.accepted_ballot) + ")"
                    : "");
    case Kind::accept:
        return "accept" + ballot + " = " + std::to_string(message.value);
    case Kind::accepted:
        return (message.ok ? "accepted" : "not accepted") + ballot;
    }
    return "?";
}

std::string Cluster::describe(NodeId id) const {
    const Node& node = at(id);
    std::string text = "promised " + std::to_string(node.promised());
    if (!node.acceptances().empty()) {
        const Acceptance& last = node.acceptances().back();
        text += ", accepted " + std::to_string(last.value) + " in " + std::to_string(last.ballot);
    }
    if (node.chosen()) text += ", chose " + std::to_string(*node.chosen());
    return text;
}

std::optional<Broken> AtMostOneChosen::check() {
    for (const NodeId id : cluster_.nodes()) {
        const auto& history = cluster_.at(id).acceptances();
        for (std::size_t& next = seen_[id]; next < history.size(); ++next) {
            const auto [ballot, value] = history[next];
            auto& voters = votes_[{ballot, value}];
            voters.insert(id);
            if (voters.size() < cluster_.quorum()) continue;
            if (!chosen_) chosen_ = value;
            if (*chosen_ != value) {
                return Broken{
                    .text = "value " + std::to_string(value) + " is chosen in ballot " +
                            std::to_string(ballot) + ", and " + std::to_string(*chosen_) +
                            " was chosen before",
                    .key = "two values"};
            }
        }
    }
    // What a proposer believes must be what was chosen.
    for (const Value value : cluster_.learned()) {
        if (chosen_ && *chosen_ == value) continue;
        return Broken{
            .text = "value " + std::to_string(value) + " was announced and not chosen",
            .key = "announced"};
    }
    return std::nullopt;
}

std::optional<Broken> PromisesHold::check() {
    for (const NodeId id : cluster_.nodes()) {
        const Node& node = cluster_.at(id);
        if (const Ballot* before = promised_.note(id, node.promised())) {
            return Broken{
                .text = "node " + std::to_string(id.value()) + " promised " +
                        std::to_string(*before) + " and now only " +
                        std::to_string(node.promised()),
                .key = "promise fell"};
        }
        if (const Ballot* before = accepted_.note(id, node.accepted())) {
            return Broken{
                .text = "node " + std::to_string(id.value()) +
                        " no longer knows what it accepted in " + std::to_string(*before),
                .key = "acceptance fell"};
        }
        const auto& history = node.acceptances();
        for (std::size_t& next = seen_[id]; next < history.size(); ++next) {
            if (next == 0 || history[next].ballot >= history[next - 1].ballot) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " accepted in ballot " +
                        std::to_string(history[next].ballot) + " after " +
                        std::to_string(history[next - 1].ballot),
                .key = "accepted below"};
        }
    }
    return std::nullopt;
}

std::optional<Broken> BallotsAreUnique::check() {
    for (const NodeId id : cluster_.nodes()) {
        const auto& ballots = cluster_.at(id).ballots();
        for (std::size_t& next = seen_[id]; next < ballots.size(); ++next) {
            if (begun_.insert(ballots[next]).second) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " begins ballot " +
                        std::to_string(ballots[next]) + " again",
                .key = "ballot twice"};
        }
    }
    return std::nullopt;
}

std::optional<Broken> OnlyWhatWasAskedFor::check() {
    for (const NodeId id : cluster_.nodes()) {
        const auto& history = cluster_.at(id).acceptances();
        for (std::size_t& next = seen_[id]; next < history.size(); ++next) {
            if (cluster_.asked_for().count(history[next].value) > 0) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " accepted value " +
                        std::to_string(history[next].value) + ", for which nobody asked",
                .key = "invented"};
        }
    }
    return std::nullopt;
}

} // namespace paxos
