// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a leader sends to its followers, and when an entry is committed. Source: dissertation §3.5
// (replication), §3.6.2 (only entries of the leader's own term are committed by counting), §10.2
// (batching, pipelining, writing in parallel).
#include <algorithm>
#include <utility>

#include <promtact/raft/core.hpp>

namespace promtact::raft {

ProposeResult Core::propose(std::span<const std::byte> command) {
    const auto refused = [this](ProposeStatus why) {
        ++counters_.proposals_refused;
        return ProposeResult{.status = why, .term = term_, .leader = leader_};
    };
    if (fault_ != Fault::none) return refused(ProposeStatus::stopped);
    if (role_ != Role::leader) return refused(ProposeStatus::not_leader);
    if (transfer_to_ != no_node || is_retiring()) return refused(ProposeStatus::transferring);
    if (command.size() > options_.command_bytes_max) return refused(ProposeStatus::too_large);
    const std::uint64_t waiting = uncommitted_bytes();
    if (waiting > 0 && waiting + command.size() + entry_cost > options_.uncommitted_bytes_max)
        return refused(ProposeStatus::overloaded);
    const Index index = append_entry(EntryKind::command, command);
    return {.index = index, .term = term_, .leader = leader_};
}

Index Core::append_entry(EntryKind kind, std::span<const std::byte> data) {
    PROMTACT_ASSERT(role_ == Role::leader);
    PROMTACT_ASSERT(log_.last() < number_max);
    due_ = true;
    return log_.append(term_, kind, data);
}

const Progress* Core::progress(NodeId follower) const noexcept {
    const auto found = std::lower_bound(
        progress_.begin(), progress_.end(), follower,
        [](const Progress& p, NodeId wanted) { return p.id < wanted; });
    return found == progress_.end() || found->id != follower ? nullptr : &*found;
}

Progress* Core::find(NodeId follower) noexcept {
    const auto found = std::lower_bound(
        progress_.begin(), progress_.end(), follower,
        [](const Progress& p, NodeId wanted) { return p.id < wanted; });
    return found == progress_.end() || found->id != follower ? nullptr : &*found;
}

/// How far a member's log is known to be durable; of itself a leader counts only what its own disk
/// has confirmed.
Index Core::match_of(NodeId member) const noexcept {
    if (member == options_.id) return log_.stable();
    const Progress* follower = progress(member);
    return follower == nullptr ? 0 : follower->match;
}

void Core::maybe_commit() {
    PROMTACT_ASSERT(role_ == Role::leader);
    const Index index = committed_index(
        configuration(), [this](NodeId member) { return match_of(member); }, scratch_);
    // Terms do not fall, so what lies below an entry of this term needs no look of its own.
    if (index <= commit_ || !log_.matches(index, term_)) return;
    advance_commit(index);
    due_ = true;
    after_commit();
}

void Core::on_append_reply(Progress& follower, const Message& m) {
    if (m.index > log_.last()) return drop(Drop::impossible);
    if (m.reject) {
        if (m.index <= follower.match) {
            if (follower.state == ProgressState::probe && m.index + 1 == follower.next)
                ++counters_.followers_regressed;
            return drop(Drop::stale);
        }
        const Index agree = log_.last_of_term(m.hint, m.hint_term);
        if (!follower.refuse(m.index, agree)) return drop(Drop::stale);
        due_ = true;
        return;
    }
    const bool known = !follower.acknowledge(m.index);
    const bool found = follower.state == ProgressState::probe && m.index == follower.match;
    const bool installed = follower.state == ProgressState::snapshot &&
                           follower.match >= log_.base() &&
                           follower.match >= follower.snapshot.index;
    if (found || installed) follower.become_replicate();
    due_ = true;
    if (known) return;
    if (follower.id == transfer_to_) send_timeout_now(follower);
    maybe_commit(); // may drop the follower
}

void Core::on_heartbeat_reply(Progress& follower, const Message& m) {
    if (m.context > read_round_) return drop(Drop::impossible);
    follower.round_acked = std::max(follower.round_acked, m.context);
    switch (follower.state) {
    case ProgressState::probe:
        // It lives: what was sent may have been lost.
        if (follower.probe_sent) due_ = true;
        follower.probe_sent = false;
        break;
    case ProgressState::replicate:
        if (!follower.window.empty()) follower.ask = due_ = true;
        break;
    case ProgressState::snapshot:
        if (follower.chunk_sent && follower.chunk_ticks >= options_.election_ticks) {
            follower.chunk_sent = false;
            due_ = true;
        }
        break;
    }
    maybe_finish_round();
}

/// Every heartbeat is a round of its own, so that an answer says which one it answers. The rounds
/// of reads under way are repeated by it: an answer to a later round counts for them, too.
void Core::broadcast_heartbeat() {
    heartbeat_elapsed_ = 0;
    ++read_round_;
    if (lease_round_ == 0) {
        lease_round_ = read_round_;
        lease_asked_ = leader_ticks_;
    }
    for (Progress& follower : progress_) {
        send_heartbeat(follower, read_round_);
        if (follower.id == transfer_to_ && follower.timeout_sent) send_timeout_now(follower);
    }
}

void Core::send_heartbeat(Progress& follower, std::uint64_t round) {
    Message message = make(MessageType::heartbeat, follower.id);
    message.commit = std::min(follower.match, commit_);
    message.log_term = log_.term(message.commit).value_or(0);
    message.context = round;
    follower.commit_sent = std::max(follower.commit_sent, message.commit);
    send(std::move(message));
}

/// Sends a follower what there is for it, within its window.
void Core::replicate(Progress& follower) {
    if (follower.state != ProgressState::snapshot && follower.next - 1 < log_.base())
        follower.become_snapshot(snapshot_);
    switch (follower.state) {
    case ProgressState::probe:
        if (!follower.probe_sent) send_append(follower);
        follower.probe_sent = true;
        return;
    case ProgressState::snapshot:
        if (!follower.chunk_sent) send_chunk(follower);
        return;
    case ProgressState::replicate:
        break;
    }
    bool sent = false;
    while (follower.next <= log_.last() && !follower.window.full()) {
        send_append(follower);
        sent = true;
    }
    if (!sent && follower.ask) send_append(follower); // empty: tells what has been lost
    follower.ask = false;
    if (follower.commit_sent < std::min(follower.match, commit_)) send_heartbeat(follower, 0);
}

void Core::send_append(Progress& follower) {
    PROMTACT_ASSERT(follower.next > log_.base());
    PROMTACT_ASSERT(follower.next <= log_.last() + 1);
    Message message = make(MessageType::append, follower.id);
    message.index = follower.next - 1;
    message.log_term = log_.term(message.index).value_or(0);
    message.commit = commit_;
    Index reach = message.index;
    const bool ready = follower.state == ProgressState::probe || !follower.window.full();
    if (follower.next <= log_.last() && ready) {
        message.entries =
            log_.read(follower.next, options_.append_entries_max, options_.append_bytes_max);
        reach = message.entries.last();
        if (follower.state == ProgressState::replicate) {
            follower.window.add(reach, message.entries.bytes());
            follower.next = reach + 1;
        }
    }
    follower.commit_sent = std::max(follower.commit_sent, std::min(commit_, reach));
    send(std::move(message));
}

void Core::unreachable(NodeId to) {
    Progress* follower = find(to);
    if (follower == nullptr || follower->state != ProgressState::replicate) return;
    follower->become_probe();
    follower->probe_sent = true; // until it lives again
}

} // namespace promtact::raft
