// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Linearizable reads without log entries. A leader takes the commit index, makes sure by one round
// of heartbeats that it still is the leader, and answers; all reads that wait share a round, and
// rounds have numbers that are never used again in a term. Source: dissertation §6.4
#include <algorithm>
#include <utility>

#include <promtact/raft/core.hpp>

namespace promtact::raft {

ReadStatus Core::read_index(std::uint64_t context) {
    if (fault_ != Fault::none) return ReadStatus::stopped;
    if (leader_ == no_node) return ReadStatus::no_leader;
    if (reads_waiting() >= options_.reads_max) return ReadStatus::overloaded;
    if (role_ == Role::leader) {
        reads_waiting_.push_back({context});
        return ReadStatus::accepted;
    }
    if (forward_waiting_.empty() && forward_asked_.empty()) forward_age_ = 0;
    forward_waiting_.push_back(context);
    ++counters_.reads_forwarded;
    return ReadStatus::accepted;
}

/// Reads wait until the leader has committed in its own term: before, it does not know what is
/// committed. Source: §6.4, step 1
bool Core::round_due() const noexcept {
    return role_ == Role::leader && asked_round_ == 0 && !reads_waiting_.empty() &&
           commit_ >= term_start_;
}

void Core::start_round() {
    PROMTACT_ASSERT(round_due());
    PROMTACT_ASSERT(reads_asked_.empty());
    reads_asked_.swap(reads_waiting_);
    asked_index_ = commit_;
    if (lease_holds()) {
        counters_.reads_by_lease += reads_asked_.size();
        return finish_round();
    }
    ++counters_.read_rounds;
    broadcast_heartbeat();
    asked_round_ = read_round_;
    maybe_finish_round();
}

void Core::maybe_finish_round() {
    const auto answered = [this](std::uint64_t round) {
        return has_quorum(configuration(), [this, round](NodeId voter) {
            if (voter == options_.id) return true;
            const Progress* follower = progress(voter);
            return follower != nullptr && follower->round_acked >= round;
        });
    };
    if (lease_round_ != 0 && answered(lease_round_)) {
        // Whoever answered hears a leader for election_ticks of its own clock, which may be faster;
        // a tick may have been about to come there, another one here.
        const std::uint64_t safe = std::uint64_t{options_.election_ticks - 2} * Ppm::one /
                                   (std::uint64_t{Ppm::one} + options_.clock_drift.value);
        lease_until_ = lease_asked_ + safe;
        lease_round_ = 0;
    }
    if (asked_round_ != 0 && answered(asked_round_)) finish_round();
}

void Core::finish_round() {
    for (const LeaderRead& read : reads_asked_)
        answer(read, asked_index_);
    reads_asked_.clear();
    asked_round_ = 0;
}

/// Source: §6.4.1
bool Core::lease_holds() const noexcept {
    return options_.lease_reads && !lease_void_ && leader_ticks_ < lease_until_;
}

void Core::answer(const LeaderRead& read, Index index) {
    ++counters_.reads_answered;
    if (read.from == no_node) {
        reads_confirmed_.push_back({read.context, index});
        return;
    }
    Message reply = make(MessageType::read_reply, read.from);
    reply.context = read.context;
    reply.index = index;
    send(std::move(reply));
}

/// A follower asks for itself; asked again it is answered once.
void Core::on_read(const Message& m) {
    if (role_ != Role::leader || m.context == 0) return drop(Drop::stale);
    const auto same = [&m](const LeaderRead& read) {
        return read.from == m.from && read.context == m.context;
    };
    if (std::any_of(reads_waiting_.begin(), reads_waiting_.end(), same) ||
        std::any_of(reads_asked_.begin(), reads_asked_.end(), same) ||
        reads_waiting() >= options_.reads_max)
        return drop(Drop::stale);
    reads_waiting_.push_back({m.context, m.from});
}

bool Core::forward_due() const noexcept {
    return role_ != Role::leader && leader_ != no_node && forward_asked_.empty() &&
           !forward_waiting_.empty();
}

/// All reads that wait go to the leader under one number, which no life of this member has used
/// before.
void Core::forward_reads() {
    PROMTACT_ASSERT(leader_ != no_node);
    if (forward_asked_.empty()) {
        forward_asked_.swap(forward_waiting_);
        ++forward_number_;
        forward_age_ = 0;
    }
    forward_elapsed_ = 0;
    Message request = make(MessageType::read, leader_);
    request.context = forward_number_;
    send(std::move(request));
}

void Core::on_read_reply(const Message& m) {
    if (role_ == Role::leader || m.from != leader_ || m.context != forward_number_ ||
        forward_asked_.empty())
        return drop(Drop::stale);
    for (const std::uint64_t context : forward_asked_)
        reads_confirmed_.push_back({context, m.index});
    forward_asked_.clear();
    forward_age_ = 0;
}

void Core::tick_reads(std::uint64_t ticks) {
    if (forward_asked_.empty() && forward_waiting_.empty()) return;
    forward_age_ += ticks;
    forward_elapsed_ += ticks;
    if (forward_age_ >= std::uint64_t{2} * options_.election_ticks)
        return fail_reads(leader_ == no_node ? Failure::no_leader : Failure::timeout);
    if (leader_ != no_node && !forward_asked_.empty() &&
        forward_elapsed_ >= options_.heartbeat_ticks)
        forward_reads();
}

/// Whatever waits for a leader's word, this member's own or another's, will not get it. Reads of
/// followers are theirs to fail.
void Core::fail_reads(Failure why) {
    const auto fail_one = [this, why](std::uint64_t context) {
        ++counters_.reads_failed;
        failed_reads_.push_back({context, why});
    };
    for (const auto* reads : {&reads_asked_, &reads_waiting_})
        for (const LeaderRead& read : *reads)
            if (read.from == no_node) fail_one(read.context);
    for (const auto* contexts : {&forward_asked_, &forward_waiting_})
        for (const std::uint64_t context : *contexts)
            fail_one(context);
    if (why == Failure::storage) {
        for (const ReadyRead& read : reads_confirmed_)
            fail_one(read.context);
        reads_confirmed_.clear();
    }
    reads_asked_.clear();
    reads_waiting_.clear();
    forward_asked_.clear();
    forward_waiting_.clear();
    asked_round_ = 0;
}

} // namespace promtact::raft
