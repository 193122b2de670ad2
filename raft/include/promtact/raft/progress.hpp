// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a leader knows about one follower, and how much it may send it. Invariants, asserted at
// every change: match < next, match never falls, and the window holds what its counters say.
// Source: Ongaro's dissertation §3.5 (nextIndex, matchIndex), §10.2.2 (pipelining).
#pragma once

#include <cstdint>
#include <vector>

#include <promtact/raft/ids.hpp>
#include <promtact/raft/message.hpp>

namespace promtact::raft {

/// Appends that are under way to one follower: a ring that is bounded in messages and bytes.
class Window {
  public:
    Window(std::uint32_t messages_max, std::uint64_t bytes_max);

    [[nodiscard]] bool full() const noexcept {
        return count_ == messages_max_ || bytes_ >= bytes_max_;
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::uint32_t messages() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Requires: !full(); last rises
    void add(Index last, std::uint64_t bytes);
    /// Everything up to `match` has arrived.
    void free_through(Index match) noexcept;
    void clear() noexcept;

  private:
    struct Flight {
        Index last = 0;
        std::uint64_t bytes = 0;
    };
    std::uint32_t messages_max_;
    std::uint64_t bytes_max_;
    std::uint64_t bytes_ = 0;
    std::uint32_t first_ = 0;
    std::uint32_t count_ = 0;
    std::vector<Flight> ring_{}; // of messages_max once it is used
};

enum class ProgressState : std::uint8_t {
    probe,     // where the logs agree is unknown: one append at a time
    replicate, // appends follow each other without waiting
    snapshot,  // what it lacks is compacted away
};

/// "probe", "replicate", "snapshot".
std::string_view to_string(ProgressState state) noexcept;

struct Progress {
    Progress(NodeId follower, Index next_index, std::uint32_t messages, std::uint64_t bytes)
        : id(follower), next(next_index), window(messages, bytes) {}

    NodeId id;
    Index match = 0; // everything up to it is durable there
    Index next;      // what goes out next; up to next - 1 it is taken for sent
    ProgressState state = ProgressState::probe;
    bool probe_sent = false;   // probe: wait for its answer or a sign of life
    bool ask = false;          // replicate: send an append, if only an empty one, to find losses
    bool heard = false;        // has answered this leader at all
    bool timeout_sent = false; // was told to stand for election
    std::uint64_t silent = 0;  // ticks since it answered, or since it is known
    Index leaving = 0;         // not a member from this index on: only told so
    std::uint64_t leaving_ticks = 0;
    Index commit_sent = 0;         // the commit index it was told
    std::uint64_t round_acked = 0; // the highest read round it answered
    Window window;

    // snapshot
    SnapshotMeta snapshot{};
    std::uint64_t offset = 0;      // bytes that are durable there
    bool chunk_sent = false;       // wait for its answer or a sign of life
    std::uint64_t chunk_ticks = 0; // since it was sent

    void become_probe();
    void become_replicate();
    void become_snapshot(const SnapshotMeta& meta);
    /// Everything up to `index` is durable there. False when that was known.
    bool acknowledge(Index index) noexcept;
    /// The append after `index` was refused; the logs may agree at `hint`. False when the refusal
    /// is an old one and says nothing. Source: §3.5
    bool refuse(Index index, Index hint) noexcept;
};

/// Not a member any more, and told so.
inline bool has_left(const Progress& follower) noexcept {
    return follower.leaving != 0 && follower.leaving <= follower.commit_sent &&
           follower.leaving <= follower.match;
}

} // namespace promtact::raft
