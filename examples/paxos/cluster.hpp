// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Paxos behind the engine's functions, and what must hold of it.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <promtact/engine/engine.hpp>
#include <promtact/engine/ledger.hpp>

#include "node.hpp"

namespace paxos {

class Cluster {
  public:
    using Message = paxos::Message;

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
    [[nodiscard]] promtact::Digest128 digest(const Message& message) const noexcept {
        promtact::TraceHash hash;
        hash.add<6>(
            {{static_cast<std::uint64_t>(message.kind), message.ballot, message.value,
              message.ok ? 1U : 0U, message.accepted_ballot, message.accepted_value}});
        return hash.value();
    }

    // What it may use.
    [[nodiscard]] promtact::Digest128 fingerprint() const {
        promtact::TraceHash hash;
        for (const Node& node : nodes_)
            node.fold(hash);
        return hash.value();
    }
    void crash(NodeId id) { at(id).crash(); }
    void restart(NodeId) {}
    [[nodiscard]] std::string describe(const Message& message) const;
    [[nodiscard]] std::string describe(NodeId id) const;

    /// A client has a node propose a value.
    void propose(NodeId id, Value value) {
        asked_for_.insert(value);
        at(id).propose(value);
    }
    [[nodiscard]] const std::set<Value>& asked_for() const noexcept { return asked_for_; }

    Node& at(NodeId id) { return nodes_[id.value() - 1]; }
    [[nodiscard]] const Node& at(NodeId id) const { return nodes_[id.value() - 1]; }
    [[nodiscard]] std::uint32_t quorum() const noexcept {
        return static_cast<std::uint32_t>(nodes_.size() / 2 + 1);
    }
    [[nodiscard]] std::uint64_t adoptions() const {
        std::uint64_t sum = 0;
        for (const Node& node : nodes_)
            sum += node.adoptions();
        return sum;
    }
    [[nodiscard]] std::set<Value> learned() const {
        std::set<Value> values;
        for (const Node& node : nodes_)
            if (node.chosen()) values.insert(*node.chosen());
        return values;
    }

    /// Whether somebody tries again and again.
    [[nodiscard]] bool insists() const {
        for (const Node& node : nodes_)
            if (node.attempts() >= 5) return true;
        return false;
    }

  private:
    std::vector<NodeId> ids_{};
    std::vector<Node> nodes_{};
    std::set<Value> asked_for_{}; // for checking
};

/// P1: over the whole history, acceptances of a quorum in one ballot name at most one value.
class AtMostOneChosen final : public promtact::engine::Invariant {
  public:
    explicit AtMostOneChosen(const Cluster& cluster) : cluster_(cluster) {}
    [[nodiscard]] std::string_view name() const override { return "at most one value is chosen"; }
    std::optional<promtact::engine::Broken> check() override;
    [[nodiscard]] std::optional<Value> chosen() const noexcept { return chosen_; }

  private:
    const Cluster& cluster_;
    std::map<NodeId, std::size_t> seen_{};
    std::map<std::pair<Ballot, Value>, std::set<NodeId>> votes_{};
    std::optional<Value> chosen_{};
};

/// P2: what a node promised or accepted never falls, not even over a crash, and nothing below it is
/// accepted.
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

/// P3: no ballot is begun twice.
class BallotsAreUnique final : public promtact::engine::Invariant {
  public:
    explicit BallotsAreUnique(const Cluster& cluster) : cluster_(cluster) {}
    [[nodiscard]] std::string_view name() const override { return "ballots are unique"; }
    std::optional<promtact::engine::Broken> check() override;

  private:
    const Cluster& cluster_;
    std::map<NodeId, std::size_t> seen_{};
    std::set<Ballot> begun_{};
};

/// P4: only what a client asked for is accepted.
class OnlyWhatWasAskedFor final : public promtact::engine::Invariant {
  public:
    explicit OnlyWhatWasAskedFor(const Cluster& cluster) : cluster_(cluster) {}
    [[nodiscard]] std::string_view name() const override { return "values were proposed"; }
    std::optional<promtact::engine::Broken> check() override;

  private:
    const Cluster& cluster_;
    std::map<NodeId, std::size_t> seen_{};
};

/// P1 to P4, and L1: when somebody insists, a value is known within so many steps after the last
/// fault ended.
template <class Engine>
void watch_all(Engine& engine, Cluster& cluster, std::uint64_t within = 2000) {
    engine.watch(std::make_unique<AtMostOneChosen>(cluster));
    engine.watch(std::make_unique<PromisesHold>(cluster));
    engine.watch(std::make_unique<BallotsAreUnique>(cluster));
    engine.watch(std::make_unique<OnlyWhatWasAskedFor>(cluster));
    engine.expect(
        {.name = "a value is chosen",
         .within = within,
         .holds = [&cluster] { return !cluster.learned().empty(); },
         .expected = [&cluster] { return cluster.insists(); }});
}

} // namespace paxos
