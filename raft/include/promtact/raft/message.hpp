// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What members say to each other. One struct for all types, since they share nearly all fields; a
// field that a type does not list is zero. A message is a value: copies share entries and chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/trace_hash.hpp>
#include <promtact/raft/configuration.hpp>
#include <promtact/raft/entries.hpp>
#include <promtact/raft/ids.hpp>

namespace promtact::raft {

/// Every type with the fields it uses besides from, to and term.
enum class MessageType : std::uint8_t {
    // Elections: index and log_term are the candidate's last entry.
    pre_vote = 0,       // term: the one it would stand for; context: the round
    pre_vote_reply = 1, // reject; context of the request; term: that of the request when granted,
                        // the voter's own when not
    vote = 2,           // transfer: the leader wants it, which overrides what the voter has heard
    vote_reply = 3,     // reject
    // Replication.
    append = 4,       // index, log_term: the entry before `entries`; commit
    append_reply = 5, // index: everything up to it is durable; or reject: index of the request,
                      // hint, hint_term: where the logs may agree
    heartbeat = 6,    // commit: not beyond what the follower has, log_term: of that entry, 0 when
                      // it is not known; context: the read round, or 0 when no answer is wanted
    heartbeat_reply = 7, // context of the request
    // Snapshots.
    snapshot = 8,       // chunk
    snapshot_reply = 9, // index, log_term: of the snapshot; hint: bytes that are durable; reject:
                        // it was of no use, begin again
    // The rest.
    timeout_now = 10, // stand for election at once
    read = 11,        // context: the reader's number for it
    read_reply = 12,  // context of the request; index: the state machine must have applied it
};
inline constexpr std::uint8_t message_types = 13;

/// "append", ...; "unknown" for another number.
std::string_view to_string(MessageType type) noexcept;

/// What a snapshot is: the state after `index`, and the configuration in force there.
struct SnapshotMeta {
    Index index = 0;
    Term term = 0; // of the entry at index
    Configuration configuration{};
    std::uint64_t bytes = 0; // of the state; integrity is checked by whoever stores it
    friend bool operator==(const SnapshotMeta&, const SnapshotMeta&) = default;
};

/// A piece of a snapshot. The core says which; the bytes come from the sender's snapshot store,
/// which puts them in before the message leaves, and go to the receiver's.
struct SnapshotChunk {
    SnapshotMeta meta{};
    std::uint64_t offset = 0;
    std::uint32_t length = 0;
    std::vector<std::byte> data{}; // length bytes once they are there

    [[nodiscard]] bool is_last() const noexcept { return offset + length == meta.bytes; }
};
/// Shared, since a chunk is large and copies of a message are many.
using SnapshotChunkRef = std::shared_ptr<const SnapshotChunk>;

struct Message {
    MessageType type = MessageType::heartbeat;
    bool reject = false;
    bool transfer = false;
    NodeId from = no_node;
    NodeId to = no_node;
    Term term = 0;
    Index index = 0;
    Term log_term = 0;
    Index commit = 0;
    Index hint = 0;
    Term hint_term = 0;
    std::uint64_t context = 0;
    Entries entries{};
    SnapshotChunkRef chunk{}; // shared by copies
};

/// Of everything a receiver can tell apart.
Digest128 digest(const Message& message);

/// "append 1>2 t3 index=7/2 commit=6 entries=8..9", for people.
std::string describe(const Message& message);

} // namespace promtact::raft
