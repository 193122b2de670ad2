// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What is looked at before a message may change anything. A message that fails is counted and
// dropped: nothing of it is stored, answered or believed.
#include <algorithm>

#include <promtact/raft/configuration_entry.hpp>
#include <promtact/raft/core.hpp>

namespace promtact::raft {
namespace {

bool is_request(MessageType type) noexcept {
    switch (type) {
    case MessageType::pre_vote:
    case MessageType::vote:
    case MessageType::append:
    case MessageType::heartbeat:
    case MessageType::snapshot:
    case MessageType::timeout_now:
        return true;
    case MessageType::pre_vote_reply:
    case MessageType::vote_reply:
    case MessageType::append_reply:
    case MessageType::heartbeat_reply:
    case MessageType::snapshot_reply:
    case MessageType::read:
    case MessageType::read_reply:
        return false;
    }
    PROMTACT_UNREACHABLE();
}

bool entries_are_well_formed(const Message& m) {
    if (m.entries.empty()) return true;
    if (m.entries.first() != m.index + 1) return false;
    Term before = m.log_term;
    for (const Entry& entry : m.entries) {
        if (entry.term < before || entry.term == 0 || entry.term > m.term) return false;
        before = entry.term;
        if (static_cast<std::uint8_t>(entry.kind) >= entry_kinds) return false;
        if (entry.kind == EntryKind::noop && !entry.data.empty()) return false;
        if (entry.kind == EntryKind::configuration && !decode_configuration_entry(entry.data))
            return false;
    }
    return true;
}

bool chunk_is_well_formed(const Message& m) {
    if (m.chunk == nullptr) return false;
    const SnapshotChunk& chunk = *m.chunk;
    const SnapshotMeta& meta = chunk.meta;
    if (meta.index == 0 || meta.index > number_max || meta.term == 0 || meta.term > m.term)
        return false;
    if (meta.bytes > number_max || chunk.offset > meta.bytes) return false;
    if (chunk.length > meta.bytes - chunk.offset || chunk.data.size() != chunk.length) return false;
    // Only the end of a snapshot may be asked about without bytes.
    if (chunk.length == 0 && !chunk.is_last()) return false;
    return validate(meta.configuration).has_value() && !meta.configuration.voters.empty();
}

} // namespace

std::optional<Drop> Core::refuse(const Message& m) const {
    if (fault_ != Fault::none) return Drop::stopped;
    if (static_cast<std::uint8_t>(m.type) >= message_types) return Drop::malformed;
    if (m.from == no_node || m.from == options_.id || m.to != options_.id) return Drop::malformed;
    const std::uint64_t largest = std::max(
        {m.term, m.index, m.log_term, m.commit, m.hint, m.hint_term, m.index + m.entries.size()});
    if (m.term == 0 || largest > number_max) return Drop::malformed;
    if (m.term > term_ && m.term - term_ > options_.term_jump_max) return Drop::malformed;
    if (m.type == MessageType::append || m.type == MessageType::vote ||
        m.type == MessageType::pre_vote) {
        if ((m.index == 0) != (m.log_term == 0) || m.log_term > m.term) return Drop::malformed;
    }
    if (m.type != MessageType::append && !m.entries.empty()) return Drop::malformed;
    if (m.type != MessageType::snapshot && m.chunk != nullptr) return Drop::malformed;
    if (m.type == MessageType::append && !entries_are_well_formed(m)) return Drop::malformed;
    if (m.type == MessageType::snapshot && !chunk_is_well_formed(m)) return Drop::malformed;
    if (is_stranger(m)) return Drop::stranger;
    return std::nullopt;
}

void Core::drop(Drop why) noexcept {
    ++counters_.dropped[static_cast<std::size_t>(why)];
}

/// Whether a leader was heard within the shortest timeout, so that no other can have been elected
/// with this member's help. Source: dissertation §4.2.3, §6.4.1
bool Core::hears_leader() const noexcept {
    if (!options_.check_quorum) return false;
    if (role_ == Role::leader) return true;
    return (leader_ != no_node || guarded_) && elapsed_ < options_.election_ticks;
}

/// Who is outside of the configuration may still lead or stand: this member's configuration may be
/// an old one (docs/decisions/0052). But not while a leader is heard, and never answer.
bool Core::is_stranger(const Message& m) const noexcept {
    if (m.from == leader_ || configuration().contains(m.from)) return false;
    if (is_request(m.type)) return hears_leader();
    if (m.type == MessageType::read_reply) return true; // not from the leader
    return std::none_of(progress_.begin(), progress_.end(), [&](const Progress& follower) {
        return follower.id == m.from;
    });
}

} // namespace promtact::raft
