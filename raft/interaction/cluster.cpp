// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "cluster.hpp"

#include <algorithm>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>

namespace promtact::raft::interaction {
namespace {

constexpr std::size_t rounds_max = 1000; // of one node that always has something to hand out

bool is_sign_of_leader(const Message& message) {
    return message.type == MessageType::append || message.type == MessageType::heartbeat ||
           message.type == MessageType::snapshot || message.type == MessageType::vote;
}

} // namespace

Result<void> Cluster::add(const NodePlan& plan) {
    Image image;
    image.snapshot.index = plan.index;
    image.snapshot.term = plan.index == 0 ? 0 : 1;
    image.snapshot.configuration = make_configuration(plan.voters, plan.learners);
    image.snapshot.bytes = plan.content.size();
    const auto state = bytes_of(plan.content);
    image.state.assign(state.begin(), state.end());
    if (plan.index > 0) offset_ = 1;
    Options options = plan.options;
    options.id = nodes_.size() + 1;
    PROMTACT_TRY_ASSIGN(Core core, Core::open(options, image.recovered()));
    auto node = std::make_unique<Node>(std::move(core), std::move(image));
    node->store.held = plan.asynchronous;
    node->visible = state_of(node->core, offset_);
    node->states[plan.index] = plan.content;
    nodes_[options.id] = std::move(node);
    return {};
}

Core* Cluster::core(NodeId id) {
    const auto found = nodes_.find(id);
    return found == nodes_.end() ? nullptr : &found->second->core;
}

const NodeState& Cluster::visible(NodeId id) const {
    return nodes_.at(id)->visible;
}

NodeState Cluster::present(NodeId id) const {
    return state_of(nodes_.at(id)->core, offset_);
}

void Cluster::set_timeout(NodeId id, std::uint64_t ticks) {
    nodes_.at(id)->timeout = ticks;
}

void Cluster::tick(NodeId id, std::uint64_t ticks) {
    Node& node = *nodes_.at(id);
    for (; ticks > 0; --ticks) {
        node.core.tick();
        ++node.silent;
        if (node.timeout == 0 || node.silent < node.timeout) continue;
        node.silent = 0;
        node.core.campaign();
    }
}

Result<void> Cluster::forget_leader(NodeId id) {
    Node& node = *nodes_.at(id);
    if (node.core.role() == Role::leader || node.core.leader() == no_node) return {};
    hand_out(node);
    Recovered recovered = node.store.image().recovered();
    recovered.applied = node.core.applied();
    Options options = node.core.options();
    ++options.incarnation;
    PROMTACT_TRY_ASSIGN(node.core, Core::open(options, recovered));
    return {};
}

/// All of the newest snapshot: of what is applied, as theirs always has it at hand.
SnapshotChunkRef Cluster::newest_snapshot(const Node& node) {
    auto meta = node.core.snapshot_at(node.core.applied());
    if (!meta) meta = node.core.snapshot();
    const auto state = node.states.find(meta->index);
    if (state == node.states.end()) return nullptr;
    SnapshotChunk chunk{.meta = *meta};
    const auto bytes = bytes_of(state->second);
    chunk.meta.bytes = bytes.size();
    chunk.length = static_cast<std::uint32_t>(bytes.size());
    chunk.data.assign(bytes.begin(), bytes.end());
    // Shared by copies of the message.
    return std::make_shared<const SnapshotChunk>(std::move(chunk));
}

bool Cluster::send_snapshot(NodeId from, NodeId to) {
    Node& node = *nodes_.at(from);
    Message message;
    message.type = MessageType::snapshot;
    message.from = from;
    message.to = to;
    message.term = node.core.term();
    message.chunk = newest_snapshot(node);
    if (message.chunk == nullptr) return false;
    flights_.push_back({.message = std::move(message)});
    return true;
}

bool Cluster::is_ready(NodeId id) const {
    const Node& node = *nodes_.at(id);
    return node.core.has_output() || state_of(node.core, offset_) != node.visible;
}

void Cluster::process(NodeId id) {
    Node& node = *nodes_.at(id);
    node.visible = state_of(node.core, offset_);
    hand_out(node);
}

bool Cluster::complete(NodeId id) {
    Node& node = *nodes_.at(id);
    if (node.store.pending() == 0) return false;
    node.store.complete(1);
    hand_out(node);
    return true;
}

void Cluster::hand_out(Node& node) {
    for (std::size_t round = 0;; ++round) {
        PROMTACT_ASSERT(round < rounds_max);
        const auto proof = node.store.next();
        PROMTACT_ASSERT(proof.has_value());
        if (*proof) node.core.persisted(**proof);
        if (!node.core.has_output()) return;
        node.core.take(node.out);
        if (node.out.must_persist()) {
            const auto begun = node.store.begin(node.out);
            PROMTACT_ASSERT(begun.has_value());
        }
        for (Message& message : node.out.messages)
            send(node, std::move(message));
        if (node.out.installed) {
            const auto& bytes = node.store.image().partial_state;
            node.states.clear();
            node.states[node.out.installed->index] = std::string(text_of(bytes));
        }
        for (const Entries& run : node.out.apply) {
            for (const Entry& entry : run) {
                std::string state = node.states.empty() ? "" : node.states.rbegin()->second;
                if (entry.kind == EntryKind::command) state += text_of(entry.data);
                node.states[entry.index] = std::move(state);
            }
        }
        if (node.out.received) node.core.install(node.out.received->index);
    }
}

void Cluster::send(Node& node, Message message) {
    if (message.chunk != nullptr) {
        message.chunk = newest_snapshot(node);
        if (message.chunk == nullptr) return node.core.snapshot_unavailable(message.to);
    }
    flights_.push_back({.message = std::move(message)});
}

bool Cluster::propose(NodeId id, std::string_view data) {
    Core* node = core(id);
    if (node == nullptr) return false;
    if (node->propose(bytes_of(data)).accepted()) return true;
    if (node->role() == Role::leader || node->leader() == no_node) return false;
    Flight flight;
    flight.message.from = id;
    flight.message.to = node->leader();
    flight.proposal = std::string(data);
    flights_.push_back(std::move(flight));
    return true;
}

bool Cluster::deliver(NodeId to, std::optional<MessageType> type, bool drop) {
    const auto wanted = [to, type](const Flight& flight) {
        const bool typed = !type || (!flight.proposal && flight.message.type == *type);
        return flight.message.to == to && typed;
    };
    std::deque<Flight> taken;
    std::deque<Flight> rest;
    for (Flight& flight : flights_)
        (wanted(flight) ? taken : rest).push_back(std::move(flight));
    flights_ = std::move(rest);
    Core* receiver = core(to);
    if (drop || receiver == nullptr) return !taken.empty();
    for (const Flight& flight : taken) {
        if (flight.proposal) {
            propose(to, *flight.proposal);
        } else {
            receiver->step(flight.message);
            if (is_sign_of_leader(flight.message)) nodes_.at(to)->silent = 0;
        }
    }
    return !taken.empty();
}

Result<void> Cluster::compact(NodeId id, Index index) {
    Node& node = *nodes_.at(id);
    auto meta = node.core.snapshot_at(index);
    const auto state = node.states.find(index);
    if (!meta || state == node.states.end())
        return Error{Errc::invalid_argument, 0, "nothing to compact at " + std::to_string(index)};
    const auto bytes = bytes_of(state->second);
    meta->bytes = bytes.size();
    node.store.save_snapshot(*meta, {bytes.begin(), bytes.end()});
    PROMTACT_TRY(node.core.compact(*meta));
    node.visible = state_of(node.core, offset_);
    return {};
}

} // namespace promtact::raft::interaction
