// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "node.hpp"

#include <algorithm>
#include <utility>

namespace multipaxos {
namespace {

// More than clients can ask meanwhile, or who is behind stays behind.
constexpr std::size_t taught_at_once = 256;

} // namespace

promtact::Digest128 digest_of(const Command& command) noexcept {
    return command.operation ? promtact::engine::digest_of(*command.operation)
                             : promtact::Digest128{};
}

void Node::receive(const Message& message) {
    switch (message.kind) {
    case Kind::prepare:
        return on_prepare(message);
    case Kind::promise:
        return on_promise(message);
    case Kind::accept:
        return on_accept(message);
    case Kind::accepted:
        return on_accepted(message);
    case Kind::learn:
        return choose(message.slot, message.command);
    case Kind::heartbeat:
        return on_heartbeat(message);
    case Kind::status:
        return on_status(message);
    case Kind::refuse:
        return on_refuse(message);
    case Kind::request:
        return on_request(message);
    }
}

void Node::tick() {
    if (phase_ == Phase::leading) return repeat();
    if (++quiet_ >= patience()) start_round();
}

/// Different for each node, and longer with every attempt, or two outbid each other for ever.
std::uint64_t Node::patience() const noexcept {
    return 30 + 11 * std::uint64_t{id_.value()} * (1 + std::min<std::uint64_t>(attempts_, 8));
}

void Node::submit(const ClientOperation& operation) {
    if (promised_ == 0) {
        answers_.push_back({.client = operation.client, .id = operation.id, .done = false});
        return;
    }
    waiting_.insert(operation.id);
    Message request{.kind = Kind::request, .from = id_, .to = leader()};
    request.command.operation = operation;
    if (leader() == id_) return on_request(request);
    send(leader(), std::move(request));
}

void Node::on_request(const Message& message) {
    if (phase_ == Phase::leading) ask(next_++, message.command);
}

bool Node::heeds(const Message& message) {
    if (message.ballot >= promised_) {
        if (message.ballot > promised_ && message.from != id_) phase_ = Phase::following;
        promised_ = message.ballot;
        return true;
    }
    send(message.from, {.kind = Kind::refuse, .ballot = promised_});
    return false;
}

void Node::on_prepare(const Message& message) {
    if (message.ballot == promised_) return; // promised it before
    if (!heeds(message)) return;
    quiet_ = 0;
    Message promise{.kind = Kind::promise, .ballot = message.ballot};
    promise.accepted.insert(accepted_.lower_bound(message.slot), accepted_.end());
    send(message.from, std::move(promise));
}

void Node::on_accept(const Message& message) {
    if (!heeds(message)) return;
    accepted_[message.slot] = {message.ballot, message.command};
    history_.push_back({message.slot, message.ballot, digest_of(message.command)});
    send(message.from, {.kind = Kind::accepted, .ballot = message.ballot, .slot = message.slot});
}

void Node::on_heartbeat(const Message& message) {
    if (!heeds(message)) return;
    quiet_ = 0;
    attempts_ = 0;
    if (message.slot < applied_) teach(message.from, message.slot + 1);
    send(message.from, {.kind = Kind::status, .ballot = message.ballot, .slot = applied_});
}

/// Somebody promised more. Our own next round goes above it.
void Node::on_refuse(const Message& message) {
    refused_for_ = std::max(refused_for_, message.ballot);
    if (message.ballot <= ballot_ || phase_ == Phase::following) return;
    phase_ = Phase::following;
    quiet_ = 0;
}

void Node::choose(Slot slot, const Command& command) {
    chosen_.insert({slot, command});
    for (auto next = chosen_.find(applied_ + 1);
         next != chosen_.end() && next->first == applied_ + 1; ++next) {
        ++applied_;
        if (next->second.operation) apply(*next->second.operation);
    }
}

/// Once, however often it was chosen: a client's request may arrive twice.
void Node::apply(const ClientOperation& operation) {
    if (!done_.insert(operation.id).second) return;
    ClientAnswer answer{.client = operation.client, .id = operation.id};
    const auto at = map_.find(operation.key);
    const auto present = at == map_.end() ? std::nullopt : std::optional<std::uint64_t>(at->second);
    switch (operation.command) {
    case promtact::engine::ClientCommand::read:
        answer.value = present;
        break;
    case promtact::engine::ClientCommand::compare_and_set:
        answer.succeeded = present == operation.expected;
        if (!answer.succeeded) break;
        [[fallthrough]];
    case promtact::engine::ClientCommand::write:
        map_[operation.key] = operation.value;
        break;
    }
    if (waiting_.erase(operation.id) > 0) answers_.push_back(answer);
}

void Node::teach(NodeId node, Slot from) {
    std::size_t taught = 0;
    for (auto at = chosen_.lower_bound(from); at != chosen_.end() && taught < taught_at_once;
         ++at, ++taught)
        send(node, {.kind = Kind::learn, .slot = at->first, .command = at->second});
}

void Node::crash() {
    const Node before = std::move(*this);
    *this = Node(before.id_, before.nodes_, before.mutations_);
    promised_ = before.promised_;
    accepted_ = before.accepted_;
    history_ = before.history_;
}

void Node::broadcast(const Message& message) {
    for (std::uint32_t id = 1; id <= nodes_; ++id)
        send(NodeId(id), message);
}

/// What a node says to itself needs no network.
void Node::send(NodeId to, Message message) {
    message.from = id_;
    message.to = to;
    if (to == id_) return receive(message);
    outbox_.push_back(std::move(message));
}

} // namespace multipaxos
