// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The smallest protocol that keeps an engine busy: every node sends to the next one every few
// ticks, and passes on what it receives, a while.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/bytes.hpp>
#include <promtact/engine/concepts.hpp>

namespace promtact::engine::testing {

struct Token {
    NodeId from{};
    NodeId to{};
    std::uint32_t hops = 0; // it still goes
    std::array<std::byte, 64> payload{};
    friend bool operator==(const Token&, const Token&) = default;
};

struct RingOptions {
    std::uint32_t nodes = 5;
    std::uint64_t period = 2; // ticks between two sendings of a node
    std::uint32_t hops = 0;   // further ones after the first
    std::uint32_t burst = 1;  // tokens at a time
};

class Ring {
  public:
    using Message = Token;

    explicit Ring(const RingOptions& options) : options_(options), state_(options.nodes) {
        for (std::uint32_t i = 0; i < options.nodes; ++i)
            ids_.push_back(NodeId(i + 1));
    }

    // --- Cluster ---
    [[nodiscard]] std::span<const NodeId> nodes() const noexcept { return ids_; }
    void tick(NodeId node) {
        Node& self = at(node);
        if (++self.ticks % options_.period != 0) return;
        for (std::uint32_t i = 0; i < options_.burst; ++i)
            send(node, options_.hops, ++self.sent);
    }
    void deliver(NodeId node, const Token& token) {
        Node& self = at(node);
        ++self.received;
        self.sum ^= load_le<std::uint64_t>(token.payload, 0);
        if (token.hops > 0) send(node, token.hops - 1, load_le<std::uint64_t>(token.payload, 0));
    }
    void drain(NodeId node, Outbox<Token>& outbox) {
        Node& self = at(node);
        for (const Token& token : self.out)
            outbox.send(token);
        self.out.clear();
    }
    /// Sends from outside of the engine; collect() is to follow.
    void poke(NodeId node) { send(node, options_.hops, ++at(node).sent); }
    void crash(NodeId node) {
        Node& self = at(node);
        self.out.clear();
        self.ticks = 0;
        ++self.crashes;
    }
    void restart(NodeId) {}

    // --- Wire ---
    [[nodiscard]] Route route(const Token& token) const noexcept { return {token.from, token.to}; }
    [[nodiscard]] Digest128 digest(const Token& token) const noexcept {
        return digest128(token.payload);
    }
    void corrupt(Token& token, std::uint64_t bits) const {
        token.payload[bits % token.payload.size()] ^= std::byte{1};
    }
    [[nodiscard]] std::uint64_t size(const Token& token) const { return token.payload.size(); }
    [[nodiscard]] std::string describe(const Token& token) const {
        return "token " + std::to_string(load_le<std::uint64_t>(token.payload, 0));
    }

    struct Node {
        std::uint64_t ticks = 0;
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        std::uint64_t sum = 0;
        std::uint64_t crashes = 0;
        std::vector<Token> out{};
        friend bool operator==(const Node&, const Node&) = default;
    };
    [[nodiscard]] const Node& node(NodeId id) const { return state_[id.value() - 1]; }
    [[nodiscard]] std::uint64_t sent() const {
        std::uint64_t total = 0;
        for (const Node& node : state_)
            total += node.sent;
        return total;
    }
    [[nodiscard]] std::uint64_t received() const {
        std::uint64_t total = 0;
        for (const Node& node : state_)
            total += node.received;
        return total;
    }

  private:
    Node& at(NodeId id) { return state_[id.value() - 1]; }
    void send(NodeId from, std::uint32_t hops, std::uint64_t number) {
        Token& token = at(from).out.emplace_back();
        token.from = from;
        token.to = NodeId(from.value() % options_.nodes + 1);
        token.hops = hops;
        store_le<std::uint64_t>(token.payload, 0, number);
        store_le<std::uint64_t>(token.payload, 8, from.value());
    }

    RingOptions options_;
    std::vector<NodeId> ids_{};
    std::vector<Node> state_;
};

} // namespace promtact::engine::testing
