// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The states that a cluster can be in, and the actions that lead from one to the next: what a
// search walks over. Of time only order is left: a message takes as long as the search likes.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <promtact/base/choice.h>
#include <promtact/base/trace_hash.hpp>
#include <promtact/engine/explore_types.hpp>

namespace promtact::engine {

template <class C, class W = C>
class SearchSpace {
  public:
    using Message = typename C::Message;
    /// Gives the client command of that number, from 1. False when it cannot be given now, as to a
    /// node that is down.
    using Command = std::function<bool(C&, std::uint64_t number, std::span<const NodeId> down)>;

    struct Flight {
        Message message;
        Route route{};
        Digest128 digest{}; // of route and message
    };
    struct State {
        C cluster;
        std::vector<Flight> flights{};
        std::vector<NodeId> down{};
        ActionCounts spent{}; // of the limits
    };
    /// An action of one state. at: place of the message, else of the node.
    struct Action {
        ActionKind kind = ActionKind::deliver;
        std::uint32_t at = 0;
    };

    /// Lifetime: the wire outlives the space.
    SearchSpace(const C& start, const W& wire, const ExploreBounds& bounds)
        : wire_(wire), bounds_(bounds), start_(copy(start)) {}

    void commands(Command command) { command_ = std::move(command); }
    [[nodiscard]] bool has_commands() const noexcept { return command_ != nullptr; }
    [[nodiscard]] const ExploreBounds& bounds() const noexcept { return bounds_; }

    State first() {
        State state{.cluster = copy(start_)};
        for (const NodeId node : nodes(state))
            drain(state, node);
        return state;
    }
    /// Puts a copy where another state was: its memory is used again.
    static void copy_to(std::optional<State>& to, const State& from) {
        if constexpr (!Cloneable<C> && std::copyable<C> && std::copyable<Message>) {
            if (to) {
                *to = from;
                return;
            }
        }
        to.emplace(State{
            .cluster = copy(from.cluster),
            .flights = from.flights,
            .down = from.down,
            .spent = from.spent});
    }

    /// fn(action) for every action, in a fixed order; ends when it answers false. Of equal messages
    /// one is enough.
    template <class Fn>
    bool each_action(const State& state, Fn fn) const {
        for (std::uint32_t at = 0; at < state.flights.size(); ++at) {
            if (is_repeated(state, at)) continue;
            for (const ActionKind kind : {ActionKind::deliver, ActionKind::copy, ActionKind::lose})
                if (may(state, kind) && !fn(Action{kind, at})) return false;
        }
        for (std::uint32_t at = 0; at < nodes(state).size(); ++at) {
            const bool down = is_down(state, nodes(state)[at]);
            if (down && !fn(Action{ActionKind::restart, at})) return false;
            if (down) continue;
            for (const ActionKind kind : {ActionKind::tick, ActionKind::timeout, ActionKind::crash})
                if (may(state, kind) && !fn(Action{kind, at})) return false;
        }
        return !may(state, ActionKind::command) || fn(Action{ActionKind::command, 0});
    }
    /// Takes an action of this state in place. False when it leads nowhere, and the state is not to
    /// be used: a node that waits for nothing has no timeout.
    bool take(State& state, const Action& action) {
        switch (action.kind) {
        case ActionKind::deliver:
        case ActionKind::copy:
        case ActionKind::lose:
            ++spent(state, action.kind);
            meet(state, action);
            return true;
        case ActionKind::command:
            return give_command(state);
        default:
            PROMTACT_ASSERT(action.at < nodes(state).size());
            ++spent(state, action.kind);
            return act_on(state, nodes(state)[action.at], action.kind);
        }
    }
    /// The action as it is called outside of this search.
    [[nodiscard]] ExploredAction told(const State& state, const Action& action) const {
        ExploredAction told{.kind = action.kind};
        if (action.kind == ActionKind::command) return told;
        if (!is_of_message(action.kind)) {
            told.node = nodes(state)[action.at];
            return told;
        }
        const Flight& flight = state.flights[action.at];
        told.node = flight.route.to;
        told.from = flight.route.from;
        told.message = flight.digest;
        if constexpr (DescribesMessages<W, Message>) told.words = wire_.describe(flight.message);
        return told;
    }
    [[nodiscard]] static std::vector<NodeWords> words(const State& state) {
        std::vector<NodeWords> all;
        for (const NodeId node : nodes(state)) {
            NodeWords one{.id = node, .up = !is_down(state, node)};
            if constexpr (DescribesNodes<C>) one.words = state.cluster.describe(node);
            all.push_back(std::move(one));
        }
        return all;
    }
    /// Messages count as a multiset: their order is the search's choice.
    [[nodiscard]] static Digest128 fingerprint(const State& state) {
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
        const auto pair = [&state](ActionKind a, ActionKind b) {
            return std::uint64_t{state.spent[static_cast<std::size_t>(a)]} << 32 |
                   state.spent[static_cast<std::size_t>(b)];
        };
        TraceHash hash;
        hash.add<9>(
            {{cluster.low, cluster.high, low, high, down, state.flights.size(),
              pair(ActionKind::copy, ActionKind::lose), pair(ActionKind::tick, ActionKind::timeout),
              pair(ActionKind::crash, ActionKind::command)}});
        return hash.value();
    }

  private:
    static constexpr std::uint32_t timeout_ticks_max = 10'000;

    static C copy(const C& cluster) {
        if constexpr (Cloneable<C>) {
            return cluster.clone();
        } else {
            return cluster;
        }
    }
    static std::span<const NodeId> nodes(const State& state) { return state.cluster.nodes(); }
    static bool is_down(const State& state, NodeId node) {
        return std::find(state.down.begin(), state.down.end(), node) != state.down.end();
    }
    static bool is_of_message(ActionKind kind) noexcept {
        return kind == ActionKind::deliver || kind == ActionKind::copy || kind == ActionKind::lose;
    }
    static bool is_repeated(const State& state, std::uint32_t at) {
        for (std::uint32_t before = 0; before < at; ++before)
            if (state.flights[before].digest == state.flights[at].digest) return true;
        return false;
    }
    static std::uint32_t& spent(State& state, ActionKind kind) {
        return state.spent[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] bool may(const State& state, ActionKind kind) const {
        if (kind == ActionKind::command && command_ == nullptr) return false;
        if (kind == ActionKind::crash && !Crashable<C>) return false;
        return state.spent[static_cast<std::size_t>(kind)] < bounds_.limit(kind);
    }

    /// Returns whether it sent something.
    bool drain(State& state, NodeId node) {
        state.cluster.drain(node, outbox_);
        const bool sent = outbox_.size() > 0;
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
        return sent;
    }
    void meet(State& state, const Action& action) {
        PROMTACT_ASSERT(action.at < state.flights.size());
        const auto place = state.flights.begin() + static_cast<std::ptrdiff_t>(action.at);
        const Flight flight = *place;
        if (action.kind != ActionKind::copy) state.flights.erase(place);
        if (action.kind == ActionKind::lose) return;
        state.cluster.deliver(flight.route.to, flight.message);
        drain(state, flight.route.to);
    }
    bool give_command(State& state) {
        const std::uint64_t number = ++spent(state, ActionKind::command);
        if (!command_(state.cluster, number, state.down)) return false;
        for (const NodeId node : nodes(state))
            if (!is_down(state, node)) drain(state, node);
        return true;
    }
    bool act_on(State& state, NodeId node, ActionKind kind) {
        if (kind == ActionKind::tick) {
            state.cluster.tick(node);
            drain(state, node);
            return true;
        }
        if (kind == ActionKind::timeout) return wait(state, node);
        if constexpr (Crashable<C>) {
            if (kind == ActionKind::restart) {
                std::erase(state.down, node);
                state.cluster.restart(node);
                drain(state, node);
                return true;
            }
            state.down.push_back(node);
            state.cluster.crash(node);
            std::erase_if(state.flights, [node](const Flight& flight) {
                return flight.route.from == node || flight.route.to == node;
            });
        }
        return true;
    }
    /// Time passes for the node until it sends something.
    bool wait(State& state, NodeId node) {
        const Digest128 before = state.cluster.fingerprint();
        for (std::uint32_t ticks = 0; ticks < timeout_ticks_max; ++ticks) {
            state.cluster.tick(node);
            if (drain(state, node)) return true;
            if (ticks == 0 && state.cluster.fingerprint() == before) return false;
        }
        return false;
    }

    const W& wire_;
    ExploreBounds bounds_;
    C start_;
    Command command_{};
    Outbox<Message> outbox_{};
};

} // namespace promtact::engine
