// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Raft behind the engine's functions.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include <promtact/engine/engine.hpp>

#include "ghost.hpp"
#include "member.hpp"

namespace promtact::raft_sim {

class Cluster {
  public:
    using Message = raft::Message;

    explicit Cluster(const Settings& settings) {
        for (std::uint32_t id = 1; id <= settings.nodes; ++id) {
            ids_.push_back(NodeId(id));
            members_.emplace_back(settings, id);
        }
    }
    // The ghost refers to the members.
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    // What the engine needs.
    [[nodiscard]] std::span<const NodeId> nodes() const noexcept { return ids_; }
    void tick(NodeId id) { at(id).tick(); }
    void deliver(NodeId id, const Message& message) { at(id).step(message); }
    void drain(NodeId id, engine::Outbox<Message>& outbox) {
        sent_.clear();
        at(id).drain(ghost_, sent_);
        for (Message& message : sent_)
            outbox.send(std::move(message));
    }
    [[nodiscard]] engine::Route route(const Message& message) const noexcept {
        return {node(message.from), node(message.to)};
    }
    [[nodiscard]] Digest128 digest(const Message& message) const { return raft::digest(message); }

    // What it may use.
    void crash(NodeId id) {
        at(id).crash();
        ghost_.on_crash(id.value());
    }
    void restart(NodeId id) { at(id).restart(); }
    void submit(NodeId id, const engine::ClientOperation& operation) { at(id).submit(operation); }
    void take_answers(NodeId id, std::vector<engine::ClientAnswer>& answers) {
        for (const engine::ClientAnswer& answer : at(id).answers())
            answers.push_back(answer);
        at(id).answers().clear();
    }
    [[nodiscard]] std::string describe(const Message& message) const {
        return raft::describe(message);
    }
    [[nodiscard]] std::string describe(NodeId id) const { return at(id).core().describe(); }

    Member& at(NodeId id) { return members_[id.value() - 1]; }
    [[nodiscard]] const Member& at(NodeId id) const { return members_[id.value() - 1]; }
    [[nodiscard]] const std::deque<Member>& members() const noexcept { return members_; }
    [[nodiscard]] const Ghost& ghost() const noexcept { return ghost_; }

  private:
    static NodeId node(raft::NodeId id) noexcept { return NodeId(static_cast<std::uint32_t>(id)); }

    std::vector<NodeId> ids_{};
    std::deque<Member> members_{};
    Ghost ghost_{members_};
    std::vector<Message> sent_{};
};

} // namespace promtact::raft_sim
