// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The way of a message: checked, its term settled, its sender accepted, then handed to its family.
// Source: dissertation, figure 3.1 "Rules for Servers".
#include <promtact/raft/core.hpp>

namespace promtact::raft {

void Core::step(const Message& m) {
    if (const auto why = refuse(m)) return drop(*why);
    if (!settle_term(m)) return;
    PROMTACT_ASSERT(
        m.term == term_ || m.type == MessageType::pre_vote ||
        m.type == MessageType::pre_vote_reply);
    dispatch(m);
}

/// Adopts a higher term. False when the message has had all the effect it may have.
bool Core::settle_term(const Message& m) {
    if (m.type == MessageType::pre_vote) return true; // asks about a term nobody has yet
    if (m.type == MessageType::pre_vote_reply && !m.reject) return true;
    if (m.term < term_) {
        answer_stale(m);
        return false;
    }
    if (m.term == term_) return true;
    if (m.type == MessageType::vote && !m.transfer && hears_leader()) {
        drop(Drop::leased);
        return false;
    }
    if (m.type == MessageType::pre_vote_reply) ++counters_.terms_learnt;
    follow(m.term, no_node);
    return true;
}

/// A sender whose term is over learns the present one, so that it cannot stay behind for ever:
/// a candidate that nobody answers, a leader that somebody with a higher term ignores.
void Core::answer_stale(const Message& m) {
    switch (m.type) {
    case MessageType::vote: {
        Message reply = make(MessageType::vote_reply, m.from);
        reply.reject = true;
        return send(std::move(reply));
    }
    case MessageType::append:
    case MessageType::heartbeat:
    case MessageType::snapshot: {
        Message reply = make(MessageType::append_reply, m.from);
        reply.reject = true;
        reply.index = m.index;
        return send(std::move(reply));
    }
    case MessageType::pre_vote:
    case MessageType::pre_vote_reply:
    case MessageType::vote_reply:
    case MessageType::append_reply:
    case MessageType::heartbeat_reply:
    case MessageType::snapshot_reply:
    case MessageType::timeout_now:
    case MessageType::read:
    case MessageType::read_reply:
        return drop(Drop::stale);
    }
    PROMTACT_UNREACHABLE();
}

/// A message that only the leader of this term sends: there is one, for ever. Source: §3.4
bool Core::accept_leader(const Message& m) {
    if (role_ == Role::leader || (leader_ != no_node && leader_ != m.from)) {
        drop(Drop::impossible);
        return false;
    }
    if (role_ != Role::follower || leader_ != m.from) follow(term_, m.from);
    elapsed_ = 0;
    return true;
}

void Core::dispatch(const Message& m) {
    switch (m.type) {
    case MessageType::pre_vote:
        return on_pre_vote(m);
    case MessageType::vote:
        return on_vote(m);
    case MessageType::pre_vote_reply:
    case MessageType::vote_reply:
        return on_vote_reply(m);
    case MessageType::append:
        if (accept_leader(m)) on_append(m);
        return;
    case MessageType::heartbeat:
        if (accept_leader(m)) on_heartbeat(m);
        return;
    case MessageType::snapshot:
        if (accept_leader(m)) on_snapshot(m);
        return;
    case MessageType::timeout_now:
        return on_timeout_now(m);
    case MessageType::read:
        return on_read(m);
    case MessageType::read_reply:
        return on_read_reply(m);
    case MessageType::append_reply:
    case MessageType::heartbeat_reply:
    case MessageType::snapshot_reply:
        break;
    }
    Progress* follower = find(m.from);
    if (role_ != Role::leader || follower == nullptr) return drop(Drop::stale);
    follower->silent = 0;
    follower->heard = true;
    if (m.type == MessageType::append_reply) return on_append_reply(*follower, m);
    if (m.type == MessageType::heartbeat_reply) return on_heartbeat_reply(*follower, m);
    on_snapshot_reply(*follower, m);
}

} // namespace promtact::raft
