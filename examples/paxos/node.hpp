// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Single-decree Paxos: every node proposes and accepts, one value is chosen. Source: Lamport, Paxos
// Made Simple (2001), section 2.2
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <promtact/base/fault.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/engine/concepts.hpp>

namespace paxos {

using promtact::NodeId;
using Ballot = std::uint64_t;
using Value = std::uint64_t;

enum class Kind : std::uint8_t { prepare, promise, accept, accepted };

struct Message {
    Kind kind = Kind::prepare;
    NodeId from{};
    NodeId to{};
    Ballot ballot = 0;
    Value value = 0;            // accept
    bool ok = true;             // promise, accepted: false is a refusal
    Ballot accepted_ballot = 0; // promise: of what the acceptor accepted, 0 when nothing
    Value accepted_value = 0;
};

/// Deliberate mistakes, each of which some property must notice. None is on unless a test says so.
struct Mutations {
    bool promise_not_durable = false;   // X1
    bool accepts_below_promise = false; // X2
    bool adopts_any_value = false;      // X3
    bool ballots_start_anew = false;    // X4
    bool counts_across_ballots = false; // X6
    bool no_back_off = false;           // X8
    bool forgets_accepted = false;      // what was accepted is lost in a crash
    bool invents_value = false;         // proposes a value that nobody asked for
};

/// One acceptance that happened: kept for checking, by nobody's protocol.
struct Acceptance {
    Ballot ballot = 0;
    Value value = 0;
};

class Node {
  public:
    Node(NodeId id, std::uint32_t nodes, const Mutations& mutations)
        : id_(id), nodes_(nodes), mutations_(mutations) {}

    /// Begins to propose a value, unless it proposes one already. When one was chosen before, that
    /// one is chosen again.
    void propose(Value value);
    void tick();
    void receive(const Message& message);
    /// Memory is lost; what a real node has on disk comes back.
    void crash();

    std::vector<Message>& outbox() noexcept { return outbox_; }

    [[nodiscard]] NodeId id() const noexcept { return id_; }
    [[nodiscard]] std::optional<Value> chosen() const noexcept { return chosen_; }
    [[nodiscard]] Ballot promised() const noexcept { return promised_; }
    [[nodiscard]] Ballot accepted() const noexcept { return accepted_ballot_; }
    [[nodiscard]] const std::vector<Acceptance>& acceptances() const noexcept { return history_; }
    /// Ballots begun for what it proposes at present; 0 when it does not.
    [[nodiscard]] std::uint64_t attempts() const noexcept {
        return phase_ == Phase::idle ? 0 : attempts_;
    }
    [[nodiscard]] std::uint64_t adoptions() const noexcept { return adoptions_; }
    [[nodiscard]] const std::vector<Ballot>& ballots() const noexcept { return ballots_; }

    /// Adds everything that decides what the node will do, and what it did so far.
    void fold(promtact::TraceHash& hash) const;

  private:
    enum class Phase : std::uint8_t { idle, preparing, accepting };

    void start_round();
    void on_prepare(const Message& message);
    void on_promise(const Message& message);
    void on_accept(const Message& message);
    void on_accepted(const Message& message);
    void begin_accepting();
    bool accept(Ballot ballot, Value value);
    void broadcast(Message message);
    void reply(const Message& to, Message message);
    [[nodiscard]] std::uint32_t quorum() const noexcept { return nodes_ / 2 + 1; }
    [[nodiscard]] std::uint64_t patience() const noexcept;

    NodeId id_;
    std::uint32_t nodes_;
    Mutations mutations_;

    // On disk.
    Ballot promised_ = 0;
    Ballot accepted_ballot_ = 0;
    Value accepted_value_ = 0;
    std::uint64_t round_ = 0;

    // In memory.
    Phase phase_ = Phase::idle;
    Ballot ballot_ = 0;
    Value wanted_ = 0;   // what it was asked to propose
    Value proposed_ = 0; // what it proposes: its own or an adopted value
    Ballot adopted_from_ = 0;
    std::uint64_t answers_ = 0; // a bit per node
    std::uint64_t waited_ = 0;  // ticks
    std::uint64_t attempts_ = 0;
    std::optional<Value> chosen_{};

    std::vector<Message> outbox_{};
    std::vector<Acceptance> history_{}; // for checking
    std::vector<Ballot> ballots_{};     // for checking
    std::uint64_t adoptions_ = 0;
};

} // namespace paxos
