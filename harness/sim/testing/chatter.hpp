// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A small protocol with mistakes that can be switched on: each node sends a growing number to the
// next, and "no number above the limit arrives" is broken in time.
#pragma once

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <promtact/sim/protocol.hpp>

namespace promtact::sim::testing {

struct Number {
    NodeId from{}, to{};
    std::uint64_t value = 0;
};

struct ChatterMistakes {
    bool by_address = false; // sends in the order in which peers lie in memory
    bool unwritten = false;  // a byte of the message is never written
    bool wall_clock = false; // reads the time of day
    bool throws = false;     // at step 20
    bool aborts = false;     // at step 20
    bool exits = false;      // at step 20, as if all were well
    bool loops = false;      // at step 20, for ever
    std::uint64_t limit = ~std::uint64_t{0};
    std::uint64_t crashes_max = ~std::uint64_t{0};
};

class Chatter {
  public:
    using Message = Number;

    Chatter(std::uint32_t nodes, ChatterMistakes mistakes) : mistakes_(mistakes) {
        for (std::uint32_t id = 1; id <= nodes; ++id) {
            ids_.push_back(NodeId(id));
            peers_.push_back(std::make_unique<Peer>(Peer{NodeId(id)}));
            by_address_.insert(peers_.back().get());
        }
        out_.resize(nodes + 1);
    }

    [[nodiscard]] std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId node) {
        if (node != NodeId(1)) return;
        ++ticks_;
        if (mistakes_.throws && ticks_ == 20) base_ += std::stoul("no number");
        if (mistakes_.aborts && ticks_ == 20) std::abort();
        if (mistakes_.exits && ticks_ == 20) std::exit(0);
        while (mistakes_.loops && ticks_ == 20)
            base_ = base_ + 1;
        if (mistakes_.by_address && ticks_ == 30) {
            for (const Peer* peer : by_address_)
                out_[1].push_back({node, peer->id, ticks_});
            return;
        }
        for (const NodeId to : ids_)
            out_[1].push_back({node, to, value()});
    }
    void deliver(NodeId node, const Number& number) {
        highest = std::max(highest, number.value);
        heard[node].insert(number.value);
    }
    void drain(NodeId node, engine::Outbox<Number>& outbox) {
        for (const Number& number : out_[node.value()])
            outbox.send(number);
        out_[node.value()].clear();
    }
    [[nodiscard]] engine::Route route(const Number& number) const {
        return {number.from, number.to};
    }
    [[nodiscard]] Digest128 digest(const Number& number) const { return {0, number.value}; }
    [[nodiscard]] std::string describe(const Number& number) const {
        return "number " + std::to_string(number.value);
    }
    [[nodiscard]] std::string describe(NodeId) const {
        return "highest " + std::to_string(highest);
    }
    void crash(NodeId) { ++crashes; }
    void restart(NodeId) {}
    /// What a client asks: the value jumps.
    void jump(std::uint64_t by) { base_ += by; }

    std::uint64_t highest = 0;
    std::uint64_t crashes = 0;
    std::map<NodeId, std::set<std::uint64_t>> heard{};

  private:
    struct Peer {
        NodeId id{};
    };
    std::uint64_t value() {
        if (mistakes_.unwritten && ticks_ == 30) {
            const auto bytes = std::make_unique_for_overwrite<unsigned char[]>(200);
            return base_ + const_cast<volatile unsigned char*>(bytes.get())[100];
        }
        if (mistakes_.wall_clock && ticks_ == 30) {
            return static_cast<std::uint64_t>(
                std::chrono::steady_clock::now().time_since_epoch().count());
        }
        return base_ + ticks_;
    }

    ChatterMistakes mistakes_;
    std::vector<NodeId> ids_{};
    std::vector<std::unique_ptr<Peer>> peers_{};
    std::set<const Peer*> by_address_{};
    std::vector<std::vector<Number>> out_{};
    std::uint64_t ticks_ = 0;
    std::uint64_t base_ = 0;
};

inline Protocol chatter(const ChatterMistakes& mistakes = {}) {
    Parts<Chatter> parts;
    parts.make = [mistakes](const Scenario& scenario) {
        return std::make_unique<Chatter>(scenario.nodes, mistakes);
    };
    parts.prepare = [mistakes](Parts<Chatter>::Engine& engine, Chatter& cluster) {
        engine.watch("no number is above the limit", [&cluster, limit = mistakes.limit]() {
            return cluster.highest <= limit
                       ? std::nullopt
                       : std::optional(engine::Broken{
                             .text = std::to_string(cluster.highest) + " arrived", .key = "above"});
        });
        engine.watch("few crashes", [&cluster, most = mistakes.crashes_max]() {
            return cluster.crashes <= most
                       ? std::nullopt
                       : std::optional(engine::Broken{
                             .text = std::to_string(cluster.crashes), .key = "crashes"});
        });
        engine.goals().declare("numbers arrive");
    };
    parts.propose = [](Parts<Chatter>::Engine&, Chatter& cluster, std::uint64_t) {
        cluster.jump(100);
    };
    parts.after_step = [](Parts<Chatter>::Engine& engine, Chatter& cluster) {
        if (cluster.highest > 0) engine.goals().reach("numbers arrive");
    };
    return protocol<Chatter>("chatter", std::move(parts));
}

inline Scenario quiet(std::uint64_t steps = 60) {
    return {.name = "quiet", .seed = 7, .nodes = 5, .steps = steps};
}

} // namespace promtact::sim::testing
