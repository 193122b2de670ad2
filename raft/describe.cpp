// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A core's whole state as 128 bits, for simulators that compare and count states, and as a line for
// people. A field that decides anything and is missing here would make two states one.
#include <array>

#include <promtact/raft/core.hpp>

namespace promtact::raft {
namespace {

template <class... Numbers>
void fold(TraceHash& hash, Numbers... numbers) {
    hash.add(std::array<std::uint64_t, sizeof...(Numbers)>{static_cast<std::uint64_t>(numbers)...});
}

void fold_meta(TraceHash& hash, const SnapshotMeta& meta) {
    const Digest128 members = digest(meta.configuration);
    fold(hash, meta.index, meta.term, meta.bytes, members.high, members.low);
}

void fold_message(TraceHash& hash, const Message& message) {
    const Digest128 content = digest(message);
    fold(hash, content.high, content.low);
}

void fold_log(TraceHash& hash, const Log& log, std::uint64_t durable) {
    fold(hash, log.base(), log.base_term(), log.last(), log.stable(), log.has_unsaved());
    std::vector<Entries> runs;
    log.collect(log.base() + 1, log.last(), runs);
    for (const Entries& run : runs) {
        for (const Entry& entry : run) {
            fold(hash, entry.term, entry.kind);
            hash.add(entry.data);
        }
    }
    for (Index index = log.stable() + 1; index <= log.last(); ++index)
        fold(hash, log.batch_of(index, durable) - durable);
}

void fold_progress(TraceHash& hash, const Progress& p, Timing timing) {
    fold(
        hash, p.id, p.match, p.next, p.state, p.probe_sent, p.ask, p.heard, p.timeout_sent,
        p.leaving, p.commit_sent, p.round_acked, p.window.messages(), p.window.bytes());
    const bool timed = timing == Timing::included;
    if (timed) fold(hash, p.silent, p.leaving_ticks);
    if (p.state != ProgressState::snapshot) return;
    fold_meta(hash, p.snapshot);
    fold(hash, p.offset, p.chunk_sent, timed ? p.chunk_ticks : 0);
}

} // namespace

Digest128 Core::fingerprint(Timing timing) const {
    TraceHash hash;
    // Batches count from the last durable one, so that their number is no difference.
    const auto ahead = [this](std::uint64_t batch) {
        return batch <= durable_batch_ ? 0 : batch - durable_batch_;
    };
    fold(
        hash, options_.id, options_.incarnation, fault_, term_, vote_, commit_, applied_, role_,
        leader_, verified_, guarded_, round_, by_transfer_, term_start_, due_, transfer_to_,
        read_round_, asked_round_, asked_index_, lease_void_, forward_number_, released_,
        ahead(next_batch_), ahead(hard_batch_), hard_dirty_);
    if (timing == Timing::included) {
        fold(
            hash, elapsed_, timeout_, draws_, heartbeat_elapsed_, stall_elapsed_, leader_ticks_,
            retiring_ticks_, transfer_elapsed_, lease_round_, lease_asked_, lease_until_,
            forward_elapsed_, forward_age_);
    }
    fold_log(hash, log_, durable_batch_);
    fold_meta(hash, snapshot_);
    configurations_.fold(hash);
    fold(hash, votes_.size(), progress_.size(), now_.size(), held_.size());
    for (const Vote& vote : votes_)
        fold(hash, vote.voter, vote.granted);
    for (const Progress& follower : progress_)
        fold_progress(hash, follower, timing);
    for (const Message& message : now_)
        fold_message(hash, message);
    for (const Held& held : held_) {
        fold(hash, ahead(held.batch));
        fold_message(hash, held.message);
    }
    fold_waiting(hash);
    if (incoming_) fold(hash, ahead(incoming_->batch));
    return hash.value();
}

/// Reads, snapshots under way, and what take() has still to tell.
void Core::fold_waiting(TraceHash& hash) const {
    for (const auto* reads : {&reads_waiting_, &reads_asked_}) {
        fold(hash, reads->size());
        for (const LeaderRead& read : *reads)
            fold(hash, read.context, read.from);
    }
    for (const auto* contexts : {&forward_waiting_, &forward_asked_}) {
        fold(hash, contexts->size());
        for (const std::uint64_t context : *contexts)
            fold(hash, context);
    }
    fold(hash, reads_confirmed_.size(), failed_reads_.size(), failed_proposals_.size());
    for (const ReadyRead& read : reads_confirmed_)
        fold(hash, read.context, read.index);
    for (const FailedRead& read : failed_reads_)
        fold(hash, read.context, read.why);
    for (const FailedProposals& failed : failed_proposals_)
        fold(hash, failed.first, failed.last, failed.term, failed.why);
    if (transfer_end_) fold(hash, transfer_end_->to, transfer_end_->failure.has_value());
    fold(hash, incoming_.has_value(), chunk_.has_value(), installed_.has_value());
    if (incoming_) {
        fold_meta(hash, incoming_->meta);
        fold(hash, incoming_->from, incoming_->received, incoming_->whole, incoming_->announced);
    }
    if (chunk_) fold(hash, chunk_->from, chunk_->chunk->offset, chunk_->chunk->length);
}

std::string Core::describe() const {
    std::string text = std::to_string(options_.id) + ' ' + std::string(to_string(role_)) + " t" +
                       std::to_string(term_);
    const auto add = [&text](const char* name, std::uint64_t value) {
        text += name + std::to_string(value);
    };
    if (vote_ != no_node) add(" vote=", vote_);
    if (leader_ != no_node) add(" leader=", leader_);
    add(" log=", log_.base());
    add("..", log_.last());
    add("/", log_.last_term());
    add(" durable=", log_.stable());
    add(" commit=", commit_);
    add(" applied=", applied_);
    text += ' ' + to_string(configuration());
    if (transfer_to_ != no_node) add(" to=", transfer_to_);
    for (const Progress& follower : progress_) {
        text += " [" + std::to_string(follower.id) + ' ' + std::string(to_string(follower.state));
        add(" match=", follower.match);
        add(" next=", follower.next);
        text += ']';
    }
    if (incoming_) {
        add(" receives=", incoming_->meta.index);
        add(":", incoming_->received);
    }
    if (fault_ != Fault::none) text += " stopped: " + std::string(to_string(fault_));
    return text;
}

} // namespace promtact::raft
