// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "node.hpp"

#include <algorithm>
#include <bit>

namespace paxos {

void Node::propose(Value value) {
    if (phase_ != Phase::idle) return;
    wanted_ = value;
    proposed_ = value;
    attempts_ = 0;
    start_round();
}

/// A ballot above all this node has seen, that no other node can make.
void Node::start_round() {
    ++round_;
    if (!mutations_.ballots_start_anew) round_ = std::max(round_, promised_ / nodes_ + 1);
    ballot_ = round_ * nodes_ + (id_.value() - 1);
    ballots_.push_back(ballot_);
    phase_ = Phase::preparing;
    adopted_from_ = 0;
    answers_ = 0;
    waited_ = 0;
    ++attempts_;
    broadcast({.kind = Kind::prepare, .ballot = ballot_});
    on_prepare({.kind = Kind::prepare, .from = id_, .to = id_, .ballot = ballot_});
}

/// Longer with every attempt and different for each node, or two proposers outbid each other for
/// ever.
std::uint64_t Node::patience() const noexcept {
    if (mutations_.no_back_off) return 4;
    return 12 + 3 * std::uint64_t{id_.value()} * std::min<std::uint64_t>(attempts_, 16);
}

void Node::tick() {
    if (phase_ == Phase::idle) return;
    if (++waited_ >= patience()) start_round();
}

void Node::fold(promtact::TraceHash& hash) const {
    hash.add<8>(
        {{promised_, accepted_ballot_, accepted_value_, round_, static_cast<std::uint64_t>(phase_),
          ballot_, wanted_, proposed_}});
    hash.add<7>(
        {{adopted_from_, answers_, waited_, attempts_, chosen_ ? 1U : 0U, chosen_.value_or(0),
          adoptions_}});
    for (const Acceptance& one : history_)
        hash.add<2>({{one.ballot, one.value}});
    hash.add<2>({{history_.size(), ballots_.size()}});
    for (const Ballot ballot : ballots_)
        hash.add<1>({{ballot}});
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
    }
}

void Node::on_prepare(const Message& message) {
    const bool ok = message.ballot > promised_;
    if (ok) promised_ = message.ballot;
    reply(
        message, {.kind = Kind::promise,
                  .ballot = message.ballot,
                  .ok = ok,
                  .accepted_ballot = accepted_ballot_,
                  .accepted_value = accepted_value_});
}

void Node::on_promise(const Message& message) {
    if (phase_ != Phase::preparing || message.ballot != ballot_ || !message.ok) return;
    answers_ |= std::uint64_t{1} << (message.from.value() - 1);
    const bool higher = mutations_.adopts_any_value ? message.accepted_ballot > 0
                                                    : message.accepted_ballot > adopted_from_;
    if (message.accepted_ballot > 0 && higher) {
        adopted_from_ = message.accepted_ballot;
        adoptions_ += message.accepted_value != wanted_ ? 1 : 0;
        proposed_ = message.accepted_value;
    }
    if (std::popcount(answers_) >= static_cast<int>(quorum())) begin_accepting();
}

void Node::begin_accepting() {
    if (mutations_.invents_value && adopted_from_ == 0) proposed_ = 0;
    phase_ = Phase::accepting;
    answers_ = 0;
    waited_ = 0;
    broadcast({.kind = Kind::accept, .ballot = ballot_, .value = proposed_});
    on_accept(
        {.kind = Kind::accept, .from = id_, .to = id_, .ballot = ballot_, .value = proposed_});
}

bool Node::accept(Ballot ballot, Value value) {
    if (ballot < promised_ && !mutations_.accepts_below_promise) return false;
    promised_ = std::max(promised_, ballot);
    accepted_ballot_ = ballot;
    accepted_value_ = value;
    history_.push_back({ballot, value});
    return true;
}

void Node::on_accept(const Message& message) {
    const bool ok = accept(message.ballot, message.value);
    reply(message, {.kind = Kind::accepted, .ballot = message.ballot, .ok = ok});
}

void Node::on_accepted(const Message& message) {
    if (phase_ != Phase::accepting || !message.ok) return;
    if (message.ballot != ballot_ && !mutations_.counts_across_ballots) return;
    answers_ |= std::uint64_t{1} << (message.from.value() - 1);
    if (std::popcount(answers_) < static_cast<int>(quorum())) return;
    chosen_ = proposed_;
    phase_ = Phase::idle;
}

void Node::crash() {
    if (mutations_.promise_not_durable) promised_ = accepted_ballot_;
    if (mutations_.ballots_start_anew) round_ = 0;
    if (mutations_.forgets_accepted) accepted_ballot_ = 0;
    phase_ = Phase::idle;
    chosen_.reset();
    outbox_.clear();
}

void Node::broadcast(Message message) {
    message.from = id_;
    for (std::uint32_t id = 1; id <= nodes_; ++id) {
        message.to = NodeId(id);
        if (message.to != id_) outbox_.push_back(message);
    }
}

/// What a node says to itself needs no message.
void Node::reply(const Message& to, Message message) {
    message.from = id_;
    message.to = to.from;
    if (to.from == id_) return receive(message);
    outbox_.push_back(message);
}

} // namespace paxos
