// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Multi-Paxos: a leader has its ballot promised once for all slots of a log, then asks for them
// without waiting. Source: Lamport, Paxos Made Simple (2001), section 3
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <promtact/engine/client.hpp>

namespace multipaxos {

using promtact::NodeId;
using promtact::engine::ClientAnswer;
using promtact::engine::ClientOperation;
using Ballot = std::uint64_t;
using Slot = std::uint64_t; // from 1

/// What a slot holds: an operation of a client, or nothing to do.
struct Command {
    std::optional<ClientOperation> operation{};
};
promtact::Digest128 digest_of(const Command& command) noexcept;

struct Accepted {
    Ballot ballot = 0;
    Command command{};
};

enum class Kind : std::uint8_t {
    prepare,   // slot: the first that the sender does not know
    promise,   // accepted: from that slot on
    accept,    // slot, command
    accepted,  // slot
    learn,     // slot, command: it is chosen
    heartbeat, // slot: how far the leader applied
    status,    // slot: how far the follower applied
    refuse,    // ballot: the one that was promised
    request,   // command: for the leader
};

struct Message {
    Kind kind = Kind::prepare;
    NodeId from{};
    NodeId to{};
    Ballot ballot = 0;
    Slot slot = 0;
    Command command{};
    std::map<Slot, Accepted> accepted{};
};

/// Deliberate mistakes, for the tests.
struct Mutations {
    bool leaves_gaps = false;      // X9: a new leader asks for nothing in slots nobody reported
    bool forgets_reported = false; // it fills every slot with a command that does nothing
};

/// What a node did, for checking.
struct Acceptance {
    Slot slot = 0;
    Ballot ballot = 0;
    promtact::Digest128 command{};
};

class Node {
  public:
    Node(NodeId id, std::uint32_t nodes, const Mutations& mutations)
        : id_(id), nodes_(nodes), mutations_(mutations) {}

    void tick();
    void receive(const Message& message);
    /// A client asks. Answered when this node applies it, or at once when it knows no leader.
    void submit(const ClientOperation& operation);
    /// Memory is lost; what a real node has on disk stays.
    void crash();

    std::vector<Message>& outbox() noexcept { return outbox_; }
    std::vector<ClientAnswer>& answers() noexcept { return answers_; }

    [[nodiscard]] bool leads() const noexcept { return phase_ == Phase::leading; }
    [[nodiscard]] Ballot promised() const noexcept { return promised_; }
    [[nodiscard]] Slot applied() const noexcept { return applied_; }
    [[nodiscard]] const std::vector<Acceptance>& acceptances() const noexcept { return history_; }
    [[nodiscard]] const std::map<Slot, Command>& chosen() const noexcept { return chosen_; }

  private:
    enum class Phase : std::uint8_t { following, preparing, leading };
    struct Asked {
        Command command{};
        std::uint64_t answers = 0; // a bit per node
    };

    // Leading: leader.cpp
    void start_round();
    void on_promise(const Message& message);
    void begin_leading();
    void ask(Slot slot, const Command& command);
    void on_accepted(const Message& message);
    void on_status(const Message& message);
    void repeat();

    // Accepting and learning: node.cpp
    void on_prepare(const Message& message);
    void on_accept(const Message& message);
    void on_heartbeat(const Message& message);
    void on_refuse(const Message& message);
    void on_request(const Message& message);
    /// Whether the sender's ballot counts here; if not, it is told so.
    bool heeds(const Message& message);
    void choose(Slot slot, const Command& command);
    void apply(const ClientOperation& operation);
    void teach(NodeId node, Slot from);

    void broadcast(const Message& message);
    void send(NodeId to, Message message);
    [[nodiscard]] int quorum() const noexcept { return static_cast<int>(nodes_ / 2 + 1); }
    [[nodiscard]] std::uint64_t patience() const noexcept;
    [[nodiscard]] NodeId leader() const noexcept {
        return NodeId(static_cast<std::uint32_t>(promised_ % nodes_) + 1);
    }

    NodeId id_;
    std::uint32_t nodes_;
    Mutations mutations_;

    // On disk.
    Ballot promised_ = 0;
    std::map<Slot, Accepted> accepted_{};

    // In memory.
    Phase phase_ = Phase::following;
    Ballot ballot_ = 0;
    Ballot refused_for_ = 0;     // the highest that others promised instead
    std::uint64_t quiet_ = 0;    // ticks since a leader was heard
    std::uint64_t attempts_ = 0; // rounds since then
    std::uint64_t answers_seen_ = 0;
    std::map<Slot, Accepted> reported_{};
    std::map<Slot, Asked> asked_{};
    Slot next_ = 1;
    std::uint64_t leading_ticks_ = 0;

    std::map<Slot, Command> chosen_{};
    Slot applied_ = 0;
    std::map<std::uint64_t, std::uint64_t> map_{};
    std::set<std::uint64_t> done_{};    // ids of operations that were applied
    std::set<std::uint64_t> waiting_{}; // of clients of this node

    std::vector<Message> outbox_{};
    std::vector<ClientAnswer> answers_{};
    std::vector<Acceptance> history_{}; // for checking
};

} // namespace multipaxos
