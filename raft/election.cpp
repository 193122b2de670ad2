// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Elections. Source: dissertation §3.4 (elections), §3.6.1 (who may win), §9.6 (pre-vote), §4.2.3
// and §6.2 (leaders that are heard are not disturbed, leaders without a quorum step down).
#include <algorithm>

#include <promtact/raft/core.hpp>

namespace promtact::raft {

/// A voter whose disk works. Who is removed by an entry that may not be committed still stands,
/// without a vote of its own: it may be the only one that has the entry. Source: §4.2.2
bool Core::may_campaign() const noexcept {
    if (role_ == Role::leader || stalled() || term_ >= number_max) return false;
    if (configuration().is_voter(options_.id)) return true;
    return configuration_index() > commit_ && configurations_.at(commit_).is_voter(options_.id);
}

bool Core::campaign() {
    if (fault_ != Fault::none || !may_campaign()) return false;
    start_campaign(Campaign::pre_vote);
    return true;
}

void Core::start_campaign(Campaign kind) {
    PROMTACT_ASSERT(may_campaign());
    follow(term_, no_node);
    elapsed_ = 0;
    heartbeat_elapsed_ = 0;
    if (kind == Campaign::pre_vote && options_.pre_vote) {
        ++counters_.pre_votes;
        role_ = Role::pre_candidate;
        ++round_;
        record_vote(options_.id, true);
        ask_for_votes(false);
        return count_votes();
    }
    ++counters_.elections;
    follow(term_ + 1, no_node);
    role_ = Role::candidate;
    vote_ = options_.id;
    by_transfer_ = kind == Campaign::transfer;
    PROMTACT_ASSERT(hard_batch_ == next_batch_);
    // The requests wait until the vote for oneself is durable, and with it all that the log held
    // before. The vote counts from then on, too: see persisted().
    ask_for_votes(false);
}

void Core::ask_for_votes(bool only_missing) {
    heartbeat_elapsed_ = 0;
    const bool pre = role_ == Role::pre_candidate;
    PROMTACT_ASSERT(pre || role_ == Role::candidate);
    const auto has_granted = [this](NodeId voter) {
        return std::any_of(votes_.begin(), votes_.end(), [voter](const Vote& vote) {
            return vote.voter == voter && vote.granted;
        });
    };
    const auto ask = [&](NodeId voter) {
        if (voter == options_.id || (only_missing && has_granted(voter))) return;
        Message request = make(pre ? MessageType::pre_vote : MessageType::vote, voter);
        if (pre) {
            request.term = term_ + 1;
            request.context = round_;
        }
        request.index = log_.last();
        request.log_term = log_.last_term();
        request.transfer = by_transfer_;
        send(std::move(request));
    };
    const Configuration& members = configuration();
    for (const NodeId voter : members.voters)
        ask(voter);
    for (const NodeId voter : members.outgoing)
        if (!std::binary_search(members.voters.begin(), members.voters.end(), voter)) ask(voter);
}

/// Source: §3.6.1: first the last term decides, then the length
bool Core::up_to_date(const Message& m) const noexcept {
    if (m.log_term != log_.last_term()) return m.log_term > log_.last_term();
    return m.index >= log_.last();
}

/// Grants nothing that lasts, and never moves the term here. A refusal carries this member's term:
/// whoever is behind learns it, and the next round is about a term that counts.
void Core::on_pre_vote(const Message& m) {
    const bool granted = m.term > term_ && up_to_date(m) && !hears_leader();
    Message reply = make(MessageType::pre_vote_reply, m.from);
    reply.context = m.context;
    reply.reject = !granted;
    if (granted) reply.term = m.term;
    send(std::move(reply));
}

/// Answered whatever this member takes itself for: its configuration may be older than the
/// candidate's. Source: §4.1
void Core::on_vote(const Message& m) {
    const bool free = vote_ == m.from || (vote_ == no_node && leader_ == no_node);
    const bool granted = free && up_to_date(m);
    if (granted && vote_ == no_node) {
        if (role_ != Role::follower) follow(term_, no_node); // its own round is over
        vote_ = m.from;
        hard_dirty_ = true;
        hard_batch_ = next_batch_;
        elapsed_ = 0;
    }
    Message reply = make(MessageType::vote_reply, m.from);
    reply.reject = !granted;
    send(std::move(reply));
}

void Core::on_vote_reply(const Message& m) {
    const bool pre = m.type == MessageType::pre_vote_reply;
    const bool of_this_round = pre ? role_ == Role::pre_candidate && m.context == round_ &&
                                         m.term == (m.reject ? term_ : term_ + 1)
                                   : role_ == Role::candidate && m.term == term_;
    if (!of_this_round) return drop(Drop::stale);
    if (!configuration().is_voter(m.from)) return drop(Drop::stranger);
    record_vote(m.from, !m.reject);
    count_votes();
}

/// One answer a voter, however often it comes; a refusal may be taken back.
void Core::record_vote(NodeId voter, bool granted) {
    const auto found = std::find_if(
        votes_.begin(), votes_.end(), [voter](const Vote& vote) { return vote.voter == voter; });
    if (found == votes_.end()) {
        votes_.push_back({voter, granted});
    } else if (granted) {
        found->granted = true;
    }
}

void Core::count_votes() {
    PROMTACT_ASSERT(role_ == Role::pre_candidate || role_ == Role::candidate);
    const auto vote = [this](NodeId voter) -> std::optional<bool> {
        for (const Vote& given : votes_)
            if (given.voter == voter) return given.granted;
        return std::nullopt;
    };
    switch (vote_result(configuration(), vote)) {
    case VoteResult::pending:
        return;
    case VoteResult::lost:
        return follow(term_, no_node); // the timeout goes on
    case VoteResult::won:
        if (role_ == Role::candidate) return become_leader();
        // The disk may have begun to hang since the round began.
        return may_campaign() ? start_campaign(Campaign::election) : follow(term_, no_node);
    }
}

void Core::become_leader() {
    PROMTACT_ASSERT(role_ == Role::candidate);
    PROMTACT_ASSERT(hard_batch_ <= durable_batch_); // the vote for oneself
    ++counters_.leaderships;
    role_ = Role::leader;
    leader_ = options_.id;
    votes_.clear();
    heartbeat_elapsed_ = 0;
    leader_ticks_ = 0;
    retiring_ticks_ = 0;
    read_round_ = 0;
    asked_round_ = 0;
    lease_round_ = 0;
    lease_until_ = 0;
    lease_void_ = false;
    for (const std::uint64_t context : forward_asked_)
        reads_waiting_.push_back({context});
    for (const std::uint64_t context : forward_waiting_)
        reads_waiting_.push_back({context});
    forward_asked_.clear();
    forward_waiting_.clear();
    progress_.clear();
    sync_progress(); // from the entry before the no-op on, so that the first append fits
    term_start_ = append_entry(EntryKind::noop, {});
}

void Core::leave_leadership(Failure why, bool superseded) {
    PROMTACT_ASSERT(role_ == Role::leader);
    const Index first = std::max(commit_ + 1, term_start_);
    if (first <= log_.last()) failed_proposals_.push_back({first, log_.last(), term_, why});
    // A new term is how a transfer ends well.
    if (transfer_to_ != no_node) end_transfer(superseded ? std::nullopt : std::optional(why));
    fail_reads(why);
    progress_.clear();
    asked_round_ = 0;
    due_ = false;
}

/// A leader that no quorum has answered for election_ticks cannot commit, and others may have been
/// elected. Source: §6.2
bool Core::quorum_is_active() const {
    return has_quorum(configuration(), [this](NodeId voter) {
        if (voter == options_.id) return true;
        const Progress* follower = progress(voter);
        return follower != nullptr && follower->silent < options_.election_ticks;
    });
}

} // namespace promtact::raft
