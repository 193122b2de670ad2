// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Compaction, and snapshots for followers that lack what is compacted. A snapshot goes in chunks,
// each stored before it is answered, so that neither side holds more than one and a transfer goes
// on where it stopped. It counts only when its owner has checked it whole.
// Source: dissertation §5.1, §5.2, figure 5.3
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <promtact/raft/core.hpp>

namespace promtact::raft {

std::optional<SnapshotMeta> Core::snapshot_at(Index index) const {
    if (index <= snapshot_.index || index > applied_) return std::nullopt;
    // Who joined without knowing the first configuration knows one only from the next entry on.
    const Configuration& members = configurations_.at(index);
    if (members.voters.empty()) return std::nullopt;
    return SnapshotMeta{
        .index = index, .term = log_.term(index).value_or(0), .configuration = members};
}

Result<void> Core::compact(const SnapshotMeta& durable) {
    auto expected = snapshot_at(durable.index);
    if (!expected) {
        return Error{
            Errc::out_of_range, 0,
            "raft compaction at " + std::to_string(durable.index) + ": must lie behind " +
                std::to_string(snapshot_.index) + " and not behind " + std::to_string(applied_)};
    }
    expected->bytes = durable.bytes;
    if (*expected != durable) {
        return Error{
            Errc::invalid_argument, 0,
            "raft compaction at " + std::to_string(durable.index) +
                ": the snapshot's term or configuration is not that of its index"};
    }
    ++counters_.compactions;
    snapshot_ = durable;
    configurations_.compact(durable.index);
    const Index through = durable.index - std::min<Index>(durable.index, options_.trailing_entries);
    if (through <= log_.base()) return {};
    PROMTACT_ASSERT(through <= commit_);
    log_.compact(through);
    released_ = through;
    return {};
}

void Core::snapshot_unavailable(NodeId to) {
    Progress* follower = find(to);
    if (follower == nullptr || follower->state != ProgressState::snapshot) return;
    follower->become_probe();
    due_ = true; // with the present snapshot, when that is what it needs
}

/// The bytes are put in by the owner, who has them.
void Core::send_chunk(Progress& follower) {
    PROMTACT_ASSERT(follower.offset <= follower.snapshot.bytes);
    if (follower.offset == 0) ++counters_.snapshots_sent;
    SnapshotChunk chunk;
    chunk.meta = follower.snapshot;
    chunk.offset = follower.offset;
    chunk.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        options_.snapshot_chunk_bytes, follower.snapshot.bytes - follower.offset));
    Message message = make(MessageType::snapshot, follower.id);
    message.chunk = std::make_shared<const SnapshotChunk>(std::move(chunk)); // shared by copies
    follower.chunk_sent = true;
    follower.chunk_ticks = 0;
    send(std::move(message));
}

void Core::on_snapshot_reply(Progress& follower, const Message& m) {
    if (follower.state != ProgressState::snapshot || m.index != follower.snapshot.index ||
        m.log_term != follower.snapshot.term)
        return drop(Drop::stale);
    if (m.hint > follower.snapshot.bytes) return drop(Drop::impossible);
    follower.offset = m.reject ? 0 : m.hint;
    if (follower.offset < follower.snapshot.bytes && !m.reject) {
        follower.chunk_sent = false;
        due_ = true;
        return;
    }
    // Everything is there, and what is missing is the word that it was installed; or it was of no
    // use, and is sent again, but not at once. A sign of life after a while goes on from here.
    follower.chunk_sent = true;
    follower.chunk_ticks = 0;
}

bool Core::incoming_is(NodeId from, const SnapshotMeta& meta) const noexcept {
    return incoming_ && incoming_->from == from && incoming_->meta == meta;
}

void Core::on_snapshot(const Message& m) {
    const SnapshotChunk& chunk = *m.chunk;
    const SnapshotMeta& meta = chunk.meta;
    if (meta.index > commit_ && log_.matches(meta.index, meta.term)) {
        verified_ = std::max(verified_, meta.index);
        advance_commit(meta.index); // it needs no snapshot, only the news
    }
    if (meta.index <= commit_) {
        if (incoming_ && incoming_->meta.index <= commit_) incoming_.reset();
        return acknowledge(commit_);
    }
    if (!incoming_is(m.from, meta)) {
        if (incoming_ && incoming_->from == m.from && incoming_->meta.index > meta.index)
            return drop(Drop::stale);
        if (chunk.offset != 0) return reply_snapshot(m.from, meta, 0, false);
        incoming_ = Incoming{.from = m.from, .meta = meta};
        chunk_.reset();
    }
    Incoming& incoming = *incoming_;
    if (chunk.offset == incoming.received && !incoming.whole && !chunk_) {
        ++counters_.chunks_received;
        if (incoming.batch == 0 && incoming.received > 0) ++counters_.snapshots_resumed;
        chunk_ = ReceivedChunk{m.from, m.chunk};
        incoming.received += chunk.length;
        incoming.batch = next_batch_;
        incoming.whole = chunk.is_last();
    }
    reply_snapshot(m.from, meta, incoming.received, false);
}

void Core::reply_snapshot(NodeId to, const SnapshotMeta& meta, std::uint64_t bytes, bool reject) {
    Message reply = make(MessageType::snapshot_reply, to);
    reply.index = meta.index;
    reply.log_term = meta.term;
    reply.hint = bytes;
    reply.reject = reject;
    send(std::move(reply), bytes > 0 && incoming_ ? incoming_->batch : 0);
}

/// All chunks are durable and the owner has not been told yet.
bool Core::received_ready() const noexcept {
    return incoming_ && incoming_->whole && !incoming_->announced &&
           incoming_->batch <= durable_batch_;
}

/// The log begins anew behind the snapshot. Nothing that was committed here is lost by that: the
/// snapshot holds it; what lies behind it here is of another history.
bool Core::install(Index snapshot) {
    if (fault_ != Fault::none || !incoming_ || !incoming_->announced ||
        incoming_->meta.index != snapshot)
        return false;
    const SnapshotMeta meta = std::move(incoming_->meta);
    incoming_.reset();
    if (meta.index <= commit_ || log_.matches(meta.index, meta.term) || role_ == Role::leader)
        return false;
    ++counters_.snapshots_installed;
    log_.reset(meta.index, meta.term, commit_);
    configurations_.reset(meta.index, meta.configuration);
    snapshot_ = meta;
    commit_ = meta.index;
    applied_ = meta.index;
    verified_ = commit_;
    installed_ = meta;
    released_ = 0;
    if (leader_ != no_node) acknowledge(meta.index);
    return true;
}

void Core::install_failed(Index snapshot) {
    if (fault_ != Fault::none || !incoming_ || !incoming_->announced ||
        incoming_->meta.index != snapshot)
        return;
    const SnapshotMeta meta = std::move(incoming_->meta);
    incoming_.reset();
    if (leader_ != no_node && role_ != Role::leader) reply_snapshot(leader_, meta, 0, true);
}

} // namespace promtact::raft
