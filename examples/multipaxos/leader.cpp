// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// How a node comes to lead, and what it does then.
#include <algorithm>
#include <bit>
#include <utility>

#include "node.hpp"

namespace multipaxos {
namespace {

constexpr std::uint64_t heartbeat_every = 4; // ticks
constexpr std::uint64_t repeat_every = 12;

std::uint64_t bit_of(NodeId node) {
    return std::uint64_t{1} << (node.value() - 1);
}

} // namespace

/// A ballot above all this node has seen, that no other node can make.
void Node::start_round() {
    ballot_ = (std::max(promised_, refused_for_) / nodes_ + 1) * nodes_ + (id_.value() - 1);
    phase_ = Phase::preparing;
    quiet_ = 0;
    ++attempts_;
    answers_seen_ = 0;
    reported_.clear();
    asked_.clear();
    broadcast({.kind = Kind::prepare, .ballot = ballot_, .slot = applied_ + 1});
}

void Node::on_promise(const Message& message) {
    if (phase_ != Phase::preparing || message.ballot != ballot_) return;
    answers_seen_ |= bit_of(message.from);
    for (const auto& [slot, accepted] : message.accepted) {
        Accepted& known = reported_[slot];
        if (accepted.ballot > known.ballot) known = accepted;
    }
    if (std::popcount(answers_seen_) >= quorum()) begin_leading();
}

/// Every slot that may have been chosen is asked for again with what was reported; those between
/// that nobody reported get nothing to do, or what lies behind them could never be applied.
void Node::begin_leading() {
    phase_ = Phase::leading;
    attempts_ = 0;
    leading_ticks_ = 0;
    Slot last = applied_;
    if (!reported_.empty()) last = std::max(last, reported_.rbegin()->first);
    if (!chosen_.empty()) last = std::max(last, chosen_.rbegin()->first);
    next_ = last + 1;
    for (Slot slot = applied_ + 1; slot <= last; ++slot) {
        if (chosen_.count(slot) > 0) continue;
        const auto known = reported_.find(slot);
        if (known != reported_.end() && !mutations_.forgets_reported) {
            ask(slot, known->second.command);
        } else if (!mutations_.leaves_gaps) {
            ask(slot, {});
        }
    }
    reported_.clear();
    broadcast({.kind = Kind::heartbeat, .ballot = ballot_, .slot = applied_});
}

void Node::ask(Slot slot, const Command& command) {
    asked_[slot] = {.command = command};
    broadcast({.kind = Kind::accept, .ballot = ballot_, .slot = slot, .command = command});
}

void Node::on_accepted(const Message& message) {
    if (phase_ != Phase::leading || message.ballot != ballot_) return;
    const auto at = asked_.find(message.slot);
    if (at == asked_.end()) return; // chosen already
    at->second.answers |= bit_of(message.from);
    if (std::popcount(at->second.answers) < quorum()) return;
    const Command command = at->second.command;
    asked_.erase(at);
    broadcast({.kind = Kind::learn, .slot = message.slot, .command = command});
}

void Node::on_status(const Message& message) {
    if (phase_ == Phase::leading && message.slot < applied_) teach(message.from, message.slot + 1);
}

void Node::repeat() {
    ++leading_ticks_;
    if (leading_ticks_ % heartbeat_every == 0)
        broadcast({.kind = Kind::heartbeat, .ballot = ballot_, .slot = applied_});
    if (leading_ticks_ % repeat_every != 0) return;
    const auto asked = asked_; // our own answer may take one away
    for (const auto& [slot, one] : asked) {
        broadcast({.kind = Kind::accept, .ballot = ballot_, .slot = slot, .command = one.command});
    }
}

} // namespace multipaxos
