// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A map that node 1 keeps: the others pass questions on to it. With the mistake they answer reads
// from a copy of their own, which is behind.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <promtact/sim/protocol.hpp>

namespace promtact::sim::testing {

struct RegisterMessage {
    enum class Kind : std::uint8_t { question, answer, copy } kind = Kind::question;
    NodeId from{}, to{};
    engine::ClientOperation operation{};
    engine::ClientAnswer answer{};
};

class Register {
  public:
    using Message = RegisterMessage;

    Register(std::uint32_t nodes, bool stale_reads) : stale_reads_(stale_reads) {
        for (std::uint32_t id = 1; id <= nodes; ++id)
            ids_.push_back(NodeId(id));
        nodes_.resize(nodes + 1);
    }

    [[nodiscard]] std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId) {}
    void deliver(NodeId id, const Message& message) {
        Node& node = nodes_[id.value()];
        switch (message.kind) {
        case Message::Kind::question:
            node.out.push_back(
                {.kind = Message::Kind::answer,
                 .from = id,
                 .to = message.from,
                 .answer = carry_out(message.operation)});
            return;
        case Message::Kind::answer:
            node.answers.push_back(message.answer);
            return;
        case Message::Kind::copy:
            node.map[message.operation.key] = message.operation.value;
            return;
        }
    }
    void drain(NodeId id, engine::Outbox<Message>& outbox) {
        for (const Message& message : nodes_[id.value()].out)
            outbox.send(message);
        nodes_[id.value()].out.clear();
    }
    [[nodiscard]] engine::Route route(const Message& message) const {
        return {message.from, message.to};
    }
    [[nodiscard]] Digest128 digest(const Message& message) const {
        const Digest128 part = message.kind == Message::Kind::answer
                                   ? engine::digest_of(message.answer)
                                   : engine::digest_of(message.operation);
        return {.high = part.high, .low = part.low ^ static_cast<std::uint64_t>(message.kind)};
    }

    void submit(NodeId id, const engine::ClientOperation& operation) {
        Node& node = nodes_[id.value()];
        const bool reads = operation.command == engine::ClientCommand::read;
        if (id == ids_.front()) {
            node.answers.push_back(carry_out(operation));
        } else if (reads && stale_reads_) {
            engine::ClientAnswer answer{.client = operation.client, .id = operation.id};
            const auto at = node.map.find(operation.key);
            if (at != node.map.end()) answer.value = at->second;
            node.answers.push_back(answer);
        } else {
            node.out.push_back({.from = id, .to = ids_.front(), .operation = operation});
        }
    }
    void take_answers(NodeId id, std::vector<engine::ClientAnswer>& answers) {
        Node& node = nodes_[id.value()];
        answers.insert(answers.end(), node.answers.begin(), node.answers.end());
        node.answers.clear();
    }

  private:
    struct Node {
        std::map<std::uint64_t, std::uint64_t> map{};
        std::vector<Message> out{};
        std::vector<engine::ClientAnswer> answers{};
    };
    engine::ClientAnswer carry_out(const engine::ClientOperation& operation) {
        Node& keeper = nodes_[1];
        engine::ClientAnswer answer{.client = operation.client, .id = operation.id};
        const auto at = keeper.map.find(operation.key);
        const bool there = at != keeper.map.end();
        if (operation.command == engine::ClientCommand::read) {
            if (there) answer.value = at->second;
            return answer;
        }
        if (operation.command == engine::ClientCommand::compare_and_set) {
            const bool fits =
                operation.expected ? there && at->second == *operation.expected : !there;
            answer.succeeded = fits;
            if (!fits) return answer;
        }
        keeper.map[operation.key] = operation.value;
        for (const NodeId other : ids_) {
            if (other == ids_.front()) continue;
            keeper.out.push_back(
                {.kind = Message::Kind::copy,
                 .from = ids_.front(),
                 .to = other,
                 .operation = operation});
        }
        return answer;
    }

    bool stale_reads_;
    std::vector<NodeId> ids_{};
    std::vector<Node> nodes_{};
};

inline Protocol map_of_one(bool stale_reads = false) {
    Parts<Register> parts;
    parts.make = [stale_reads](const Scenario& scenario) {
        return std::make_unique<Register>(scenario.nodes, stale_reads);
    };
    return protocol<Register>("map", std::move(parts));
}

} // namespace promtact::sim::testing
