// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Every order of events, up to bounds: breadth first over the states of a cluster that can be
// copied and fingerprinted. Messages are delivered in any order, lost, and nodes ticked and crashed
// as often as the bounds say. Source: Holzmann, The Model Checker SPIN (1997), sections 2 and 3
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <promtact/base/choice.h>
#include <promtact/base/trace_hash.hpp>
#include <promtact/engine/concepts.hpp>
#include <promtact/engine/fingerprint_set.hpp>
#include <promtact/engine/invariant.hpp>
#include <promtact/engine/stop.hpp>

namespace promtact::engine {

struct ExploreBounds {
    std::uint64_t states = 1'000'000; // distinct ones
    std::uint32_t depth = ~std::uint32_t{0};
    std::uint32_t ticks = 0;   // of all nodes together
    std::uint32_t losses = 0;  // messages lost
    std::uint32_t copies = 0;  // messages delivered that stay under way
    std::uint32_t crashes = 0; // each may be followed by a restart
    std::size_t under_way = 64;
};

/// What may happen next.
enum class ActionKind : std::uint8_t { deliver, copy, lose, tick, crash, restart, command };

constexpr std::string_view to_string(ActionKind kind) noexcept {
    constexpr std::string_view names[] = {"deliver", "deliver a copy of", "lose",   "tick",
                                          "crash",   "restart",           "command"};
    return names[static_cast<std::size_t>(kind)];
}

/// One line of a path to a violation.
struct ExploredAction {
    ActionKind kind = ActionKind::deliver;
    NodeId node{};       // of tick, crash and restart; else the receiver
    NodeId from{};       // the sender
    std::string words{}; // of the message
};

struct ExploreReport {
    /// pass: every state within the bounds was visited; fail; budget_exhausted: states_max came
    /// first.
    Verdict verdict = Verdict::pass;
    std::uint64_t states = 0;      // distinct
    std::uint64_t transitions = 0; // taken, also to states that were known
    std::uint32_t depth = 0;       // of the deepest state
    std::string property{};
    Broken broken{};
    std::vector<ExploredAction> path{}; // from the start to the violation: a shortest one
};

/// Searches the states of a cluster. C is copied by its copy constructor or clone().
template <class C, class W = C>
class Explorer {
    static_assert(check_protocol<C, W>());
    static_assert(
        Fingerprinted<C>,
        "the cluster needs: Digest128 fingerprint() const, equal for equal states");

  public:
    using Message = typename C::Message;
    /// A property of one state.
    using Property = std::function<std::optional<Broken>(const C&)>;

    Explorer(const C& start, const W& wire, const ExploreBounds& bounds)
        : wire_(wire), bounds_(bounds), start_(copy(start)) {}
    Explorer(const C& start, const ExploreBounds& bounds) requires std::same_as<C, W>
        : Explorer(start, start, bounds) {}

    void watch(std::string name, Property property) {
        properties_.push_back({std::move(name), std::move(property)});
    }
    /// Commands of clients, each given at most once and in this order, at any moment.
    void command(std::function<void(C&)> command) { commands_.push_back(std::move(command)); }

    ExploreReport run() {
        report_ = {};
        State first{.cluster = copy(start_)};
        for (const NodeId node : ids(first.cluster))
            drain(first, node);
        std::vector<State> level;
        if (!admit(std::move(first), none, {}, level)) return finish();
        while (!level.empty() && report_.depth < bounds_.depth) {
            std::vector<State> next;
            for (const State& state : level)
                if (!expand(state, next)) return finish();
            if (!next.empty()) ++report_.depth;
            level = std::move(next);
        }
        return finish();
    }

  private:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    struct Flight {
        Message message;
        Route route{};
        Digest128 digest{}; // of route and message
    };
    struct State {
        C cluster;
        std::vector<Flight> flights{};
        std::vector<NodeId> down{};
        std::uint32_t ticks = 0;
        std::uint32_t losses = 0;
        std::uint32_t copies = 0;
        std::uint32_t crashes = 0;
        std::uint32_t commands = 0;
        std::uint64_t index = none; // in the order of discovery
    };
    /// How a state was reached first.
    struct Origin {
        std::uint64_t parent = none;
        ActionKind kind = ActionKind::deliver;
        NodeId node{};
        NodeId from{};
        std::string words{};
    };
    struct Named {
        std::string name{};
        Property property{};
    };

    static C copy(const C& cluster) {
        if constexpr (Cloneable<C>) {
            return cluster.clone();
        } else {
            return cluster;
        }
    }
    static State copy(const State& state) {
        return {
            .cluster = copy(state.cluster),
            .flights = state.flights,
            .down = state.down,
            .ticks = state.ticks,
            .losses = state.losses,
            .copies = state.copies,
            .crashes = state.crashes,
            .commands = state.commands};
    }
    static std::span<const NodeId> ids(const C& cluster) { return cluster.nodes(); }
    static bool is_down(const State& state, NodeId node) {
        return std::find(state.down.begin(), state.down.end(), node) != state.down.end();
    }

    void drain(State& state, NodeId node) {
        state.cluster.drain(node, outbox_);
        for (Message& message : outbox_.messages()) {
            const Route route = wire_.route(message);
            if (is_down(state, route.to)) continue;
            const Digest128 payload = wire_.digest(message);
            TraceHash hash;
            hash.add<3>(
                {{promtact_link(route.from.value(), route.to.value()), payload.low, payload.high}});
            state.flights.push_back({std::move(message), route, hash.value()});
        }
        outbox_.clear();
    }
    /// Messages count as a multiset: their order is the search's choice.
    [[nodiscard]] Digest128 fingerprint(const State& state) const {
        std::uint64_t low = 0;
        std::uint64_t high = 0;
        for (const Flight& flight : state.flights) {
            low += flight.digest.low;
            high += flight.digest.high;
        }
        std::uint64_t down = 0;
        for (const NodeId node : state.down)
            down |= std::uint64_t{1} << (node.value() % 64);
        const Digest128 cluster = state.cluster.fingerprint();
        TraceHash hash;
        hash.add<8>(
            {{cluster.low, cluster.high, low, high, down, state.flights.size(),
              std::uint64_t{state.ticks} << 32 | state.losses << 16 | state.copies,
              std::uint64_t{state.crashes} << 32 | state.commands}});
        return hash.value();
    }

    /// Every state that one action leads to. False once the search is over.
    bool expand(const State& state, std::vector<State>& next) {
        for (std::size_t i = 0; i < state.flights.size(); ++i) {
            bool again = false; // an equal one was tried
            for (std::size_t j = 0; j < i && !again; ++j)
                again = state.flights[j].digest == state.flights[i].digest;
            if (again) continue;
            if (!arrive(state, i, ActionKind::deliver, next)) return false;
            if (state.copies < bounds_.copies && !arrive(state, i, ActionKind::copy, next))
                return false;
            if (state.losses < bounds_.losses && !lose(state, i, next)) return false;
        }
        for (const NodeId node : ids(state.cluster))
            if (!act_on(state, node, next)) return false;
        if (state.commands >= commands_.size()) return true;
        State after = copy(state);
        commands_[state.commands](after.cluster);
        ++after.commands;
        for (const NodeId node : ids(after.cluster))
            if (!is_down(after, node)) drain(after, node);
        return admit(std::move(after), state.index, {.kind = ActionKind::command}, next);
    }
    bool arrive(const State& state, std::size_t at, ActionKind kind, std::vector<State>& next) {
        State after = copy(state);
        const Flight flight = after.flights[at];
        if (kind == ActionKind::deliver) {
            after.flights.erase(after.flights.begin() + static_cast<std::ptrdiff_t>(at));
        } else {
            ++after.copies;
        }
        after.cluster.deliver(flight.route.to, flight.message);
        drain(after, flight.route.to);
        return admit(std::move(after), state.index, origin(kind, flight), next);
    }
    bool lose(const State& state, std::size_t at, std::vector<State>& next) {
        State after = copy(state);
        const Flight flight = after.flights[at];
        after.flights.erase(after.flights.begin() + static_cast<std::ptrdiff_t>(at));
        ++after.losses;
        return admit(std::move(after), state.index, origin(ActionKind::lose, flight), next);
    }
    bool act_on(const State& state, NodeId node, std::vector<State>& next) {
        const bool down = is_down(state, node);
        if (!down && state.ticks < bounds_.ticks) {
            State after = copy(state);
            ++after.ticks;
            after.cluster.tick(node);
            drain(after, node);
            if (!admit(
                    std::move(after), state.index, {.kind = ActionKind::tick, .node = node}, next))
                return false;
        }
        if constexpr (Crashable<C>) {
            if (down) {
                State after = copy(state);
                std::erase(after.down, node);
                after.cluster.restart(node);
                drain(after, node);
                return admit(
                    std::move(after), state.index, {.kind = ActionKind::restart, .node = node},
                    next);
            }
            if (state.crashes < bounds_.crashes) {
                State after = copy(state);
                ++after.crashes;
                after.down.push_back(node);
                after.cluster.crash(node);
                std::erase_if(after.flights, [node](const Flight& flight) {
                    return flight.route.from == node || flight.route.to == node;
                });
                return admit(
                    std::move(after), state.index, {.kind = ActionKind::crash, .node = node}, next);
            }
        }
        return true;
    }
    Origin origin(ActionKind kind, const Flight& flight) const {
        Origin origin{.kind = kind, .node = flight.route.to, .from = flight.route.from};
        if constexpr (DescribesMessages<W, Message>) origin.words = wire_.describe(flight.message);
        return origin;
    }

    /// Counts a transition; a new state is looked at and queued. False once the search is over.
    bool admit(State state, std::uint64_t parent, Origin how, std::vector<State>& next) {
        ++report_.transitions;
        if (state.flights.size() > bounds_.under_way) return true;
        if (!known_.insert(fingerprint(state))) return true;
        state.index = report_.states++;
        how.parent = parent;
        origins_.push_back(std::move(how));
        for (const Named& one : properties_) {
            std::optional<Broken> broken = one.property(state.cluster);
            if (!broken) continue;
            report_.verdict = Verdict::fail;
            report_.property = one.name;
            report_.broken = std::move(*broken);
            last_ = state.index;
            return false;
        }
        if (report_.states >= bounds_.states) {
            report_.verdict = Verdict::budget_exhausted;
            return false;
        }
        next.push_back(std::move(state));
        return true;
    }
    ExploreReport finish() {
        if (report_.verdict == Verdict::fail) {
            for (std::uint64_t at = last_; at != none && origins_[at].parent != none;
                 at = origins_[at].parent) {
                const Origin& how = origins_[at];
                report_.path.push_back(
                    {.kind = how.kind, .node = how.node, .from = how.from, .words = how.words});
            }
            std::reverse(report_.path.begin(), report_.path.end());
        }
        known_ = {};
        origins_.clear();
        return std::move(report_);
    }

    const W& wire_;
    ExploreBounds bounds_;
    C start_;
    std::vector<Named> properties_{};
    std::vector<std::function<void(C&)>> commands_{};
    Outbox<Message> outbox_{};
    FingerprintSet known_{};
    std::vector<Origin> origins_{};
    std::uint64_t last_ = none;
    ExploreReport report_{};
};

} // namespace promtact::engine
