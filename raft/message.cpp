// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/raft/message.hpp>

namespace promtact::raft {

std::string_view to_string(MessageType type) noexcept {
    switch (type) {
    case MessageType::pre_vote:
        return "pre_vote";
    case MessageType::pre_vote_reply:
        return "pre_vote_reply";
    case MessageType::vote:
        return "vote";
    case MessageType::vote_reply:
        return "vote_reply";
    case MessageType::append:
        return "append";
    case MessageType::append_reply:
        return "append_reply";
    case MessageType::heartbeat:
        return "heartbeat";
    case MessageType::heartbeat_reply:
        return "heartbeat_reply";
    case MessageType::snapshot:
        return "snapshot";
    case MessageType::snapshot_reply:
        return "snapshot_reply";
    case MessageType::timeout_now:
        return "timeout_now";
    case MessageType::read:
        return "read";
    case MessageType::read_reply:
        return "read_reply";
    }
    return "unknown";
}

Digest128 digest(const Message& m) {
    TraceHash hash;
    const std::uint64_t flags = std::uint64_t{static_cast<std::uint8_t>(m.type)} |
                                (m.reject ? 1U << 8 : 0U) | (m.transfer ? 1U << 9 : 0U) |
                                (m.chunk != nullptr ? 1U << 10 : 0U);
    hash.add(std::array<std::uint64_t, 11>{
        flags, m.from, m.to, m.term, m.index, m.log_term, m.commit, m.hint, m.hint_term, m.context,
        m.entries.size()});
    for (const Entry& entry : m.entries) {
        hash.add(std::array<std::uint64_t, 3>{
            entry.index, entry.term, static_cast<std::uint8_t>(entry.kind)});
        hash.add(entry.data);
    }
    if (m.chunk != nullptr) {
        const SnapshotMeta& meta = m.chunk->meta;
        const Digest128 members = digest(meta.configuration);
        hash.add(std::array<std::uint64_t, 7>{
            meta.index, meta.term, meta.bytes, members.high, members.low, m.chunk->offset,
            m.chunk->length});
        hash.add(std::span<const std::byte>(m.chunk->data));
    }
    return hash.value();
}

std::string describe(const Message& m) {
    std::string text(to_string(m.type));
    const auto add = [&text](const char* name, std::uint64_t value) {
        if (value == 0) return;
        text += name;
        text += std::to_string(value);
    };
    text += ' ' + std::to_string(m.from) + '>' + std::to_string(m.to);
    text += " t" + std::to_string(m.term);
    if (m.index != 0 || m.log_term != 0)
        text += " index=" + std::to_string(m.index) + '/' + std::to_string(m.log_term);
    add(" commit=", m.commit);
    add(" context=", m.context);
    if (m.reject) text += " reject";
    if (m.transfer) text += " transfer";
    add(" hint=", m.hint);
    add("/", m.hint_term);
    if (!m.entries.empty()) {
        text += " entries=" + std::to_string(m.entries.first()) + ".." +
                std::to_string(m.entries.last());
    }
    if (m.chunk != nullptr) {
        text += " snapshot=" + std::to_string(m.chunk->meta.index) + '/' +
                std::to_string(m.chunk->meta.term) + " at " + std::to_string(m.chunk->offset) +
                '+' + std::to_string(m.chunk->length) + " of " +
                std::to_string(m.chunk->meta.bytes);
    }
    return text;
}

} // namespace promtact::raft
