// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "cluster.hpp"

namespace multipaxos {

using promtact::Digest128;
using promtact::engine::Broken;

Digest128 Cluster::digest(const Message& message) const noexcept {
    promtact::TraceHash hash;
    const Digest128 command = digest_of(message.command);
    hash.add<5>(
        {{static_cast<std::uint64_t>(message.kind), message.ballot, message.slot, command.low,
          command.high}});
    for (const auto& [slot, accepted] : message.accepted) {
        const Digest128 one = digest_of(accepted.command);
        hash.add<4>({{slot, accepted.ballot, one.low, one.high}});
    }
    return hash.value();
}

std::string Cluster::describe(const Message& message) const {
    const std::string ballot = " " + std::to_string(message.ballot);
    const std::string slot = " slot " + std::to_string(message.slot);
    const std::string command = message.command.operation
                                    ? " operation " + std::to_string(message.command.operation->id)
                                    : std::string(" nothing");
    switch (message.kind) {
    case Kind::prepare:
        return "prepare" + ballot + " from" + slot;
    case Kind::promise:
        return "promise" + ballot + " (" + std::to_string(message.accepted.size()) + " accepted)";
    case Kind::accept:
        return "accept" + ballot + slot + " =" + command;
    case Kind::accepted:
        return "accepted" + ballot + slot;
    case Kind::learn:
        return "learn" + slot + " =" + command;
    case Kind::heartbeat:
        return "heartbeat" + ballot + ", applied" + slot;
    case Kind::status:
        return "status" + ballot + ", applied" + slot;
    case Kind::refuse:
        return "refuse, promised" + ballot;
    case Kind::request:
        return "request" + command;
    }
    return "?";
}

std::string Cluster::describe(NodeId id) const {
    const Node& node = at(id);
    return std::string(node.leads() ? "leads" : "follows") + ", promised " +
           std::to_string(node.promised()) + ", applied " + std::to_string(node.applied());
}

std::optional<Broken> OneCommandPerSlot::check() {
    for (const NodeId id : cluster_.nodes())
        if (auto broken = note_acceptances(id)) return broken;
    for (const NodeId id : cluster_.nodes())
        if (auto broken = look_at_learned(id)) return broken;
    return std::nullopt;
}

std::optional<Broken> OneCommandPerSlot::note_acceptances(NodeId id) {
    const auto& history = cluster_.at(id).acceptances();
    for (std::size_t& next = seen_[id]; next < history.size(); ++next) {
        const auto [slot, ballot, command] = history[next];
        auto& voters = votes_[{slot, ballot, command}];
        voters.insert(id);
        if (voters.size() < cluster_.quorum()) continue;
        if (chosen_.insert({slot, command}).first->second == command) continue;
        return Broken{
            .text = "two commands are chosen for slot " + std::to_string(slot) +
                    ", the second in ballot " + std::to_string(ballot),
            .key = "two commands"};
    }
    return std::nullopt;
}

std::optional<Broken> OneCommandPerSlot::look_at_learned(NodeId id) {
    const Node& node = cluster_.at(id);
    Slot& looked = applied_[id];
    if (node.applied() < looked) looked = 0; // it crashed and learns anew
    while (looked < node.applied()) {
        ++looked;
        const auto known = chosen_.find(looked);
        if (known != chosen_.end() && known->second == digest_of(node.chosen().at(looked)))
            continue;
        return Broken{
            .text = "node " + std::to_string(id.value()) + " applied in slot " +
                    std::to_string(looked) + " what was not chosen",
            .key = "not chosen"};
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
        const auto& history = node.acceptances();
        for (std::size_t& next = seen_[id]; next < history.size(); ++next) {
            const Ballot* before = accepted_.note(id, history[next].ballot);
            if (before == nullptr) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " accepted in ballot " +
                        std::to_string(history[next].ballot) + " after " + std::to_string(*before),
                .key = "accepted below"};
        }
    }
    return std::nullopt;
}

} // namespace multipaxos
