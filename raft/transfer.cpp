// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Handing leadership over. Source: dissertation §3.10.
#include <utility>

#include <promtact/raft/core.hpp>

namespace promtact::raft {

/// Proposals are refused from now on, so that the target can catch up and be elected; no longer
/// than election_ticks.
TransferStatus Core::transfer(NodeId to) {
    if (fault_ != Fault::none) return TransferStatus::stopped;
    if (role_ != Role::leader) return TransferStatus::not_leader;
    if (transfer_to_ != no_node || is_retiring()) return TransferStatus::in_progress;
    Progress* target = find(to);
    if (target == nullptr || !configuration().is_voter(to)) return TransferStatus::not_a_voter;
    ++counters_.transfers;
    transfer_to_ = to;
    transfer_elapsed_ = 0;
    target->timeout_sent = false;
    if (target->match == log_.last()) {
        send_timeout_now(*target);
    } else {
        due_ = true;
    }
    return TransferStatus::accepted;
}

/// To a target that has everything; repeated by heartbeats. The vote that follows overrides what
/// voters hear, so no lease holds in this term any more, not even when the transfer fails.
void Core::send_timeout_now(Progress& follower) {
    if (!is_retiring() && follower.match != log_.last()) return;
    follower.timeout_sent = true;
    lease_void_ = true;
    send(make(MessageType::timeout_now, follower.id));
}

void Core::end_transfer(std::optional<Failure> failure) {
    PROMTACT_ASSERT(transfer_to_ != no_node);
    if (failure) ++counters_.transfers_failed;
    transfer_end_ = TransferEnd{transfer_to_, failure};
    transfer_to_ = no_node;
    transfer_elapsed_ = 0;
}

/// Stands at once, without a pre-vote, but only as a voter and only when its own leader says so.
void Core::on_timeout_now(const Message& m) {
    if (leader_ != m.from || role_ != Role::follower) return drop(Drop::stale);
    if (!may_campaign()) return drop(Drop::impossible);
    start_campaign(Campaign::transfer);
}

} // namespace promtact::raft
