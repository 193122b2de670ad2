// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Multi-Paxos behind the engine's functions, and what must hold of it.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/ledger.hpp>

#include "node.hpp"

namespace multipaxos {

class Cluster {
  public:
    using Message = multipaxos::Message;

    explicit Cluster(std::uint32_t nodes, const Mutations& mutations = {}) {
        for (std::uint32_t id = 1; id <= nodes; ++id) {
            ids_.push_back(NodeId(id));
            nodes_.emplace_back(NodeId(id), nodes, mutations);
        }
    }

    // What the engine needs.
    [[nodiscard]] std::span<const NodeId> nodes() const noexcept { return ids_; }
    void tick(NodeId id) { at(id).tick(); }
    void deliver(NodeId id, const Message& message) { at(id).receive(message); }
    void drain(NodeId id, promtact::engine::Outbox<Message>& outbox) {
        for (const Message& message : at(id).outbox())
            outbox.send(message);
        at(id).outbox().clear();
    }
    [[nodiscard]] promtact::engine::Route route(const Message& message) const noexcept {
        return {message.from, message.to};
    }
    [[nodiscard]] promtact::Digest128 digest(const Message& message) const noexcept;

    // What it may use.
    void crash(NodeId id) { at(id).crash(); }
    void restart(NodeId) {}
    void submit(NodeId id, const ClientOperation& operation) { at(id).submit(operation); }
    void take_answers(NodeId id, std::vector<ClientAnswer>& answers) {
        for (const ClientAnswer& answer : at(id).answers())
            answers.push_back(answer);
        at(id).answers().clear();
    }
    [[nodiscard]] std::string describe(const Message& message) const;
    [[nodiscard]] std::string describe(NodeId id) const;

    Node& at(NodeId id) { return nodes_[id.value() - 1]; }
    [[nodiscard]] const Node& at(NodeId id) const { return nodes_[id.value() - 1]; }
    [[nodiscard]] std::size_t quorum() const noexcept { return nodes_.size() / 2 + 1; }

  private:
    std::vector<NodeId> ids_{};
    std::vector<Node> nodes_{};
};

/// In each slot the acceptances of a quorum in one ballot name at most one command, over the whole
/// history, and no node learns another.
class OneCommandPerSlot final : public promtact::engine::Invariant {
  public:
    explicit OneCommandPerSlot(const Cluster& cluster) : cluster_(cluster) {}
    [[nodiscard]] std::string_view name() const override {
        return "at most one command is chosen for a slot";
    }
    std::optional<promtact::engine::Broken> check() override;
    /// The highest slot for which a command was chosen.
    [[nodiscard]] Slot highest() const noexcept {
        return chosen_.empty() ? 0 : chosen_.rbegin()->first;
    }

  private:
    std::optional<promtact::engine::Broken> note_acceptances(NodeId id);
    std::optional<promtact::engine::Broken> look_at_learned(NodeId id);

    const Cluster& cluster_;
    std::map<NodeId, std::size_t> seen_{};
    std::map<NodeId, Slot> applied_{}; // looked at up to here
    std::map<std::tuple<Slot, Ballot, promtact::Digest128>, std::set<NodeId>> votes_{};
    std::map<Slot, promtact::Digest128> chosen_{};
};

/// What a node promised never falls, not even over a crash, and nothing below it is accepted.
class PromisesHold final : public promtact::engine::Invariant {
  public:
    explicit PromisesHold(const Cluster& cluster) : cluster_(cluster) {}
    [[nodiscard]] std::string_view name() const override { return "promises are kept"; }
    std::optional<promtact::engine::Broken> check() override;

  private:
    const Cluster& cluster_;
    promtact::engine::Rising<NodeId, Ballot> promised_{};
    promtact::engine::Rising<NodeId, Ballot> accepted_{};
    std::map<NodeId, std::size_t> seen_{};
};

/// How long everybody may take to apply what had been chosen when the faults ended, in steps.
inline constexpr std::uint64_t converges_within = 1500;

/// The properties above, and that everybody applies what was chosen once the faults have ended.
template <class Engine>
void watch_all(Engine& engine, Cluster& cluster) {
    auto slots = std::make_unique<OneCommandPerSlot>(cluster);
    const OneCommandPerSlot& chosen = *slots;
    engine.watch(std::move(slots));
    engine.watch(std::make_unique<PromisesHold>(cluster));
    engine.expect(
        {.name = "everybody applies what was chosen",
         .within = converges_within,
         .holds =
             [&cluster, &chosen, goal = std::optional<Slot>{}]() mutable {
                 if (!goal) goal = chosen.highest();
                 for (const NodeId id : std::as_const(cluster).nodes())
                     if (cluster.at(id).applied() < *goal) return false;
                 return true;
             },
         .explain = [&chosen] { return "up to slot " + std::to_string(chosen.highest()); }});
}

} // namespace multipaxos
