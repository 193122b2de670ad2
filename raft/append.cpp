// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a follower does with the log of its leader. Entries that are there already are never
// removed, committed ones under no circumstances. Source: dissertation §3.5, figure 3.1
// "AppendEntries RPC".
#include <algorithm>
#include <utility>

#include <promtact/raft/configuration_entry.hpp>
#include <promtact/raft/core.hpp>

namespace promtact::raft {

void Core::on_append(const Message& m) {
    std::uint32_t skip = 0;
    if (m.index < commit_) {
        // An old message, or a leader that does not know how far this member is.
        if (!agrees_with_committed(m)) return;
        if (m.index + m.entries.size() <= commit_) {
            verified_ = std::max(verified_, commit_);
            return acknowledge(commit_);
        }
        skip = static_cast<std::uint32_t>(commit_ - m.index);
    } else if (!log_.matches(m.index, m.log_term)) {
        // A leader has every committed entry, this one included.
        if (m.index == commit_) return drop(Drop::impossible);
        return reject_append(m);
    }
    if (!take_entries(m.entries, skip)) return;
    const Index reach = m.index + m.entries.size();
    verified_ = std::max(verified_, reach);
    acknowledge(reach);
    advance_commit(std::min(m.commit, reach));
}

/// Whether the entries of the message that are committed here are those that are committed here.
/// When not, somebody has lost what was promised, and this member stops.
bool Core::agrees_with_committed(const Message& m) {
    for (std::uint32_t i = 0; i < m.entries.size(); ++i) {
        const Index index = m.entries.first() + i;
        if (index > commit_) break;
        if (index < log_.base() || log_.matches(index, m.entries.term(i))) continue;
        fail(Fault::committed_truncation);
        return false;
    }
    return true;
}

/// Says where the logs may agree: the last entry here that is not newer than what was asked for.
void Core::reject_append(const Message& m) {
    ++counters_.appends_refused;
    Message reply = make(MessageType::append_reply, m.from);
    reply.reject = true;
    reply.index = m.index;
    reply.hint = log_.last_of_term(m.index, m.log_term);
    reply.hint_term = log_.term(reply.hint).value_or(0);
    send(std::move(reply));
}

/// Puts the entries behind the first `skip` into the log: what is there stays, what conflicts goes
/// with all that follows it. False when that would remove a committed entry.
bool Core::take_entries(const Entries& entries, std::uint32_t skip) {
    std::uint32_t at = skip;
    while (at < entries.size() && entries.first() + at <= log_.last() &&
           log_.matches(entries.first() + at, entries.term(at)))
        ++at;
    if (at == entries.size()) return true;
    const Index keep = entries.first() + at - 1;
    PROMTACT_ASSERT(keep <= log_.last());
    if (keep < log_.last()) {
        if (keep < commit_) {
            fail(Fault::committed_truncation);
            return false;
        }
        ++counters_.truncations;
        counters_.entries_truncated += log_.last() - keep;
        log_.truncate(keep);
        if (configurations_.truncate(keep)) ++counters_.changes_undone;
    }
    const Entries rest = at == 0 ? entries : entries.sub(at, entries.size() - at);
    log_.append(rest);
    for (std::uint32_t i = 0; i < rest.size(); ++i) {
        if (rest.kind(i) != EntryKind::configuration) continue;
        const Entry entry = rest[i];
        auto decoded = decode_configuration_entry(entry.data);
        PROMTACT_ASSERT(decoded.has_value()); // refuse() has looked
        configurations_.append(entry.index, std::move(decoded).value().configuration);
    }
    PROMTACT_ASSERT(log_.last() == entries.last());
    PROMTACT_ASSERT(log_.last() >= commit_);
    return true;
}

/// Tells the leader that everything up to the index is here, once it is durable.
void Core::acknowledge(Index index) {
    PROMTACT_ASSERT(leader_ != no_node);
    PROMTACT_ASSERT(index <= log_.last());
    // A leader asks again and again while a disk hangs: what waits already is not said twice.
    const auto same = [this, index](const Held& held) {
        return held.message.type == MessageType::append_reply && held.message.index == index &&
               held.message.to == leader_ && !held.message.reject;
    };
    if (std::any_of(held_.rbegin(), held_.rend(), same)) return;
    Message reply = make(MessageType::append_reply, leader_);
    reply.index = index;
    send(std::move(reply), log_.batch_of(index, next_batch_));
}

void Core::advance_commit(Index index) {
    if (index <= commit_) return;
    PROMTACT_ASSERT(index <= log_.last());
    commit_ = index;
}

/// The commit index counts as far as this leader's entries are known to be here. The term of that
/// entry shows it by itself: after a restart nobody may send entries for long.
void Core::on_heartbeat(const Message& m) {
    if (m.log_term != 0 && log_.matches(m.commit, m.log_term))
        verified_ = std::max(verified_, m.commit);
    advance_commit(std::min(m.commit, verified_));
    if (m.context == 0) return;
    Message reply = make(MessageType::heartbeat_reply, m.from);
    reply.context = m.context;
    send(std::move(reply));
}

} // namespace promtact::raft
