// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Time, terms, and which message waits for which batch.
#include <algorithm>
#include <utility>

#include <promtact/base/choice.hpp>
#include <promtact/raft/core.hpp>

namespace promtact::raft {

void Core::tick(std::uint64_t ticks) {
    if (fault_ != Fault::none || ticks == 0) return;
    ticks = std::min(ticks, number_max >> 8); // sums of such steps do not overflow in a lifetime
    if (durable_batch_ + 1 < next_batch_) stall_elapsed_ += ticks;
    if (role_ == Role::leader) {
        tick_leader(ticks);
    } else {
        tick_other(ticks);
    }
}

void Core::tick_leader(std::uint64_t ticks) {
    leader_ticks_ += ticks;
    heartbeat_elapsed_ += ticks;
    for (Progress& follower : progress_) {
        follower.silent += ticks;
        follower.chunk_ticks += ticks;
        if (follower.leaving != 0) follower.leaving_ticks += ticks;
    }
    if (stalled()) {
        ++counters_.stalls;
        return follow(term_, no_node);
    }
    if (options_.check_quorum && !quorum_is_active()) {
        ++counters_.quorum_lost;
        return follow(term_, no_node);
    }
    if (transfer_to_ != no_node) {
        transfer_elapsed_ += ticks;
        if (transfer_elapsed_ >= options_.election_ticks) end_transfer(Failure::timeout);
    }
    if (is_retiring()) {
        retiring_ticks_ += ticks;
        if (retiring_ticks_ >= options_.election_ticks) return retire();
    }
    std::erase_if(progress_, [this](const Progress& follower) {
        return has_left(follower) ||
               follower.leaving_ticks > std::uint64_t{4} * options_.election_ticks;
    });
    if (heartbeat_elapsed_ >= options_.heartbeat_ticks) broadcast_heartbeat();
}

void Core::tick_other(std::uint64_t ticks) {
    elapsed_ += ticks;
    if (elapsed_ >= options_.election_ticks) guarded_ = false;
    tick_reads(ticks);
    if (elapsed_ >= timeout_) {
        if (may_campaign()) return start_campaign(Campaign::pre_vote);
        follow(term_, no_node);
        elapsed_ = 0;
        return;
    }
    if (role_ == Role::follower) return;
    heartbeat_elapsed_ += ticks;
    if (heartbeat_elapsed_ >= options_.heartbeat_ticks) ask_for_votes(true);
}

void Core::draw_timeout() {
    const std::uint64_t position = std::uint64_t{options_.incarnation} << 32 | draws_++;
    const std::uint64_t bits =
        promtact_choose(options_.seed, PROMTACT_PURPOSE_ELECTION, options_.id, position);
    timeout_ = std::uint64_t{options_.election_ticks} * (1 + options_.priority) +
               promtact_bounded(bits, options_.election_ticks);
}

bool Core::stalled() const noexcept {
    return options_.stall_ticks != 0 && stall_elapsed_ >= options_.stall_ticks;
}

void Core::follow(Term term, NodeId leader) {
    PROMTACT_ASSERT(term >= term_);
    if (role_ == Role::leader) {
        leave_leadership(Failure::leadership_lost, term > term_);
        elapsed_ = 0;
    }
    if (term > term_) {
        // What waits is of the old term: nobody needs it any more, and what it says about the log
        // may not stay true.
        counters_.held_dropped += held_.size();
        held_.clear();
        term_ = term;
        vote_ = no_node;
        hard_dirty_ = true;
        hard_batch_ = next_batch_;
    }
    role_ = Role::follower;
    leader_ = leader;
    verified_ = commit_;
    by_transfer_ = false;
    votes_.clear();
    if (leader != no_node) elapsed_ = 0;
    draw_timeout();
}

Message Core::make(MessageType type, NodeId to) const {
    Message message;
    message.type = type;
    message.from = options_.id;
    message.to = to;
    message.term = term_;
    return message;
}

/// Sends once the batch is durable, and the term and vote that the message speaks for.
void Core::send(Message message, std::uint64_t batch) {
    PROMTACT_ASSERT(message.to != options_.id);
    const std::uint64_t needed = std::max(batch, hard_batch_);
    if (needed <= durable_batch_) {
        now_.push_back(std::move(message));
        return;
    }
    ++counters_.held;
    held_.push_back({needed, std::move(message)});
}

void Core::release_held() {
    const auto waits = [this](const Held& held) { return held.batch > durable_batch_; };
    auto kept = held_.begin();
    for (auto held = held_.begin(); held != held_.end(); ++held) {
        PROMTACT_ASSERT(held->message.term >= term_);
        if (!waits(*held)) {
            now_.push_back(std::move(held->message));
            continue;
        }
        if (kept != held) *kept = std::move(*held);
        ++kept;
    }
    held_.erase(kept, held_.end());
}

void Core::persisted(const Durable& durable) {
    const BatchId through = durable.through();
    if (fault_ != Fault::none || through.incarnation != options_.incarnation) return;
    if (through.number >= next_batch_) return fail(Fault::impossible_proof);
    if (through.number <= durable_batch_) return;
    durable_batch_ = through.number;
    stall_elapsed_ = 0;
    log_.saved(durable_batch_);
    release_held();
    if (role_ == Role::candidate && hard_batch_ <= durable_batch_) {
        record_vote(options_.id, true);
        count_votes();
    }
    if (role_ == Role::leader) maybe_commit();
}

void Core::storage_failed() {
    if (fault_ == Fault::none) fail(Fault::storage);
}

void Core::fail(Fault fault) {
    PROMTACT_ASSERT(fault != Fault::none);
    PROMTACT_ASSERT(fault_ == Fault::none);
    if (role_ == Role::leader) leave_leadership(Failure::storage, false);
    fail_reads(Failure::storage);
    fault_ = fault;
    role_ = Role::follower;
    leader_ = no_node;
    votes_.clear();
    now_.clear();
    held_.clear();
    chunk_.reset();
    installed_.reset();
    incoming_.reset();
    due_ = false;
}

Index Core::oldest_snapshot_in_use() const noexcept {
    Index oldest = snapshot_.index;
    for (const Progress& follower : progress_) {
        if (follower.state == ProgressState::snapshot)
            oldest = std::min(oldest, follower.snapshot.index);
    }
    return oldest;
}

std::uint64_t Core::uncommitted_bytes() const noexcept {
    if (role_ != Role::leader || commit_ == log_.last()) return 0;
    return log_.bytes(commit_ + 1, log_.last()) + (log_.last() - commit_) * entry_cost;
}

std::size_t Core::reads_waiting() const noexcept {
    return reads_waiting_.size() + reads_asked_.size() + forward_waiting_.size() +
           forward_asked_.size() + reads_confirmed_.size();
}

} // namespace promtact::raft
