// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Nodes with stores in memory and one list of messages under way, moved by hand: what the commands
// of interaction files act on.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/raft/core.hpp>
#include <promtact/raft/memory_store.hpp>

#include "node_state.hpp"

namespace promtact::raft::interaction {

/// How nodes are made.
struct NodePlan {
    std::vector<NodeId> voters{};
    std::vector<NodeId> learners{};
    Index index = 0;       // of the snapshot they begin with
    std::string content{}; // of its state
    Options options{};
    bool asynchronous = false; // batches become durable by complete()
};

class Cluster {
  public:
    /// Errors: as Core::open()
    Result<void> add(const NodePlan& plan);
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    /// nullptr without such a node.
    [[nodiscard]] Core* core(NodeId id);

    /// The state that a node had when it handed out its last batch.
    [[nodiscard]] const NodeState& visible(NodeId id) const;
    /// The state it has now.
    [[nodiscard]] NodeState present(NodeId id) const;
    /// It has something to hand out, or has changed since.
    [[nodiscard]] bool is_ready(NodeId id) const;
    /// It hands out what it has: written, sent, applied.
    void process(NodeId id);
    /// The oldest batch becomes durable. False when there is none.
    bool complete(NodeId id);

    /// Time passes. A node with a timeout stands for election when it has heard nobody for so long.
    void tick(NodeId id, std::uint64_t ticks);
    void set_timeout(NodeId id, std::uint64_t ticks);
    /// A follower does not know its leader any more: what a restart does to it.
    Result<void> forget_leader(NodeId id);
    /// Sends a snapshot of what is applied. False when there is none.
    bool send_snapshot(NodeId from, NodeId to);

    /// Adds a command, or hands it to the leader the node knows, as a message.
    bool propose(NodeId id, std::string_view data);

    /// The messages to a node, of one type or of any, are delivered or lost. False: there is none.
    bool deliver(NodeId to, std::optional<MessageType> type, bool drop);

    /// Snapshot of the state at index, and compaction.
    Result<void> compact(NodeId id, Index index);

  private:
    struct Node {
        Node(Core core_of, Image image) : core(std::move(core_of)), store(std::move(image)) {}
        Core core;
        MemoryStore store;
        Output out{};
        NodeState visible{};
        std::uint64_t timeout = 0;             // 0: never
        std::uint64_t silent = 0;              // ticks since it heard of a leader or gave its vote
        std::map<Index, std::string> states{}; // of the state machine, by applied index
    };
    struct Flight {
        Message message{};
        std::optional<std::string> proposal{}; // instead of the message; from and to are its
    };

    void hand_out(Node& node);
    static SnapshotChunkRef newest_snapshot(const Node& node);
    void send(Node& node, Message message);

    std::map<NodeId, std::unique_ptr<Node>> nodes_{};
    std::deque<Flight> flights_{};
    Term offset_ = 0; // see state_of()
};

} // namespace promtact::raft::interaction
