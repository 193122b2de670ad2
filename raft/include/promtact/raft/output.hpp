// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a core wants done. One Output is filled again and again: Core::take() replaces its content
// and keeps its memory.
//
// The owner's part, in this order:
//   1. Make the batch durable when must_persist() says that there is one, in the order of its
//      fields: snapshot chunk, installed snapshot, entries, hard state. Within a batch a crash may
//      keep any prefix of that order. Batches become durable in the order of their numbers; later
//      ones may be begun before earlier ones are durable.
//   2. Send the messages: nothing in them promises what is not durable yet. Those that do wait in
//      the core until Core::persisted() gets the proof.
//   3. Hand the state machine the installed snapshot, then what there is to apply.
//   4. Answer the reads.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include <promtact/raft/entries.hpp>
#include <promtact/raft/ids.hpp>
#include <promtact/raft/message.hpp>

namespace promtact::raft {

/// Numbers rise by one; incarnations tell the lives of a member apart.
struct BatchId {
    std::uint32_t incarnation = 0;
    std::uint64_t number = 0;
    friend constexpr auto operator<=>(const BatchId&, const BatchId&) = default;
};

/// What a member must remember. `commit` only saves work at the next start.
struct HardState {
    Term term = 0;
    NodeId vote = no_node;
    Index commit = 0;
    friend bool operator==(const HardState&, const HardState&) = default;
};

/// A piece of a snapshot that arrives.
struct ReceivedChunk {
    NodeId from = no_node;
    SnapshotChunkRef chunk{}; // shared with the message
};

/// Linearizable once the state machine has applied everything up to index, which it has when what
/// this Output and those before it say is applied.
struct ReadyRead {
    std::uint64_t context = 0;
    Index index = 0;
    friend bool operator==(const ReadyRead&, const ReadyRead&) = default;
};

enum class Failure : std::uint8_t {
    leadership_lost, // of a proposal: it may be committed by a later leader, or not
    no_leader,
    timeout,
    storage, // the core has stopped; of a proposal: as leadership_lost
};

/// "leadership_lost", "no_leader", "timeout", "storage".
std::string_view to_string(Failure failure) noexcept;

/// A read that gets no index.
struct FailedRead {
    std::uint64_t context = 0;
    Failure why = Failure::timeout;
    friend bool operator==(const FailedRead&, const FailedRead&) = default;
};

/// Entries first..last of the term will get no answer from this leadership.
struct FailedProposals {
    Index first = 0;
    Index last = 0;
    Term term = 0;
    Failure why = Failure::leadership_lost;
    friend bool operator==(const FailedProposals&, const FailedProposals&) = default;
};

/// How a transfer ended: without a failure a later term has begun, usually led by that member.
struct TransferEnd {
    NodeId to = no_node;
    std::optional<Failure> failure{};
    friend bool operator==(const TransferEnd&, const TransferEnd&) = default;
};

struct Output {
    // The batch. Its number is that of the last batch when there is nothing to persist.
    BatchId id{};
    std::optional<ReceivedChunk> chunk{};
    /// The snapshot that install() agreed to: the log is empty behind it from here on.
    std::optional<SnapshotMeta> installed{};
    /// Take the place of everything from the index of the first on.
    std::vector<Entries> entries{};
    std::optional<HardState> hard_state{};

    // To be sent.
    std::vector<Message> messages{};

    // For the state machine and its clients.
    std::vector<Entries> apply{};
    std::vector<ReadyRead> reads{};
    std::vector<FailedRead> failed_reads{};
    std::vector<FailedProposals> failed_proposals{};
    std::optional<TransferEnd> transfer{};

    // For the store.
    /// All of it is here and durable: check it whole, then call install() or install_failed().
    std::optional<SnapshotMeta> received{};
    /// Entries up to here are needed no longer (0: no news). Only after the snapshot that
    /// compact() was told of is durable, which it was.
    Index released = 0;

    [[nodiscard]] bool must_persist() const noexcept { return hard_state.has_value(); }
    /// Nothing at all. Keeps memory.
    void clear() noexcept;
};

} // namespace promtact::raft
