// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a search of every order of events is told, and what it tells: bounds, actions, counts, a
// path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/trace_hash.hpp>
#include <promtact/engine/concepts.hpp>
#include <promtact/engine/node_words.hpp>
#include <promtact/engine/stop.hpp>

namespace promtact::engine {

/// What may happen next.
enum class ActionKind : std::uint8_t {
    deliver,
    copy,    // delivered, and it stays under way
    lose,    // a message
    tick,    // of one node
    timeout, // ticks of one node until it sends something
    crash,
    restart,
    command, // of a client
};
inline constexpr std::array all_action_kinds{
    ActionKind::deliver, ActionKind::copy,  ActionKind::lose,    ActionKind::tick,
    ActionKind::timeout, ActionKind::crash, ActionKind::restart, ActionKind::command};

constexpr std::string_view to_string(ActionKind kind) noexcept {
    constexpr std::array<std::string_view, all_action_kinds.size()> names{
        "deliver", "copy", "lose", "tick", "timeout", "crash", "restart", "command"};
    return names[static_cast<std::size_t>(kind)];
}

/// A number for each kind of action.
using ActionCounts = std::array<std::uint32_t, all_action_kinds.size()>;

/// How far a search goes. Limits of actions and of messages under way make the space that is
/// searched; states and depth are budgets: where they end the search, the space was not exhausted.
struct ExploreBounds {
    std::uint64_t states = 1'000'000; // distinct ones
    std::uint32_t depth = ~std::uint32_t{0};
    std::uint32_t commands = 2; // of clients; each limit counts on the way from the start
    std::uint32_t ticks = 0;    // of all nodes together
    std::uint32_t timeouts = 0; // of all nodes together
    std::uint32_t losses = 0;   // messages lost
    std::uint32_t copies = 0;   // messages delivered that stay under way
    std::uint32_t crashes = 0;  // each may be followed by a restart
    std::size_t under_way = 64; // a state with more messages is cut off, and counted

    /// How often an action may happen; those without a limit of their own as often as they can.
    [[nodiscard]] constexpr std::uint32_t limit(ActionKind kind) const noexcept {
        switch (kind) {
        case ActionKind::copy:
            return copies;
        case ActionKind::lose:
            return losses;
        case ActionKind::tick:
            return ticks;
        case ActionKind::timeout:
            return timeouts;
        case ActionKind::crash:
            return crashes;
        case ActionKind::command:
            return commands;
        case ActionKind::deliver:
        case ActionKind::restart:
            break;
        }
        return ~std::uint32_t{0};
    }
    friend bool operator==(const ExploreBounds&, const ExploreBounds&) = default;
};

/// One line of a path. Words apart, it names the action: the same one is found again in the same
/// state of another search.
struct ExploredAction {
    ActionKind kind = ActionKind::deliver;
    NodeId node{};       // of tick, timeout, crash and restart; else the receiver; none: command
    NodeId from{};       // the sender of a message
    Digest128 message{}; // of route and message
    std::string words{}; // of the message; empty when the wire cannot describe it

    [[nodiscard]] bool names_same(const ExploredAction& other) const noexcept {
        return kind == other.kind && node == other.node && from == other.from &&
               message == other.message;
    }
};

/// A sentence that should be true of some state.
struct ExploredGoal {
    std::string sentence{};
    bool reached = false;
    std::uint32_t depth = 0; // of the first state of which it was true
};

struct ExploreReport {
    /// pass: nothing is left of the space within the bounds. fail: a property is broken. vacuous:
    /// nothing is left, but a goal was not reached or an action with a limit never happened.
    /// budget_exhausted: something is left. error: the cluster threw, or its copies are no copies.
    Verdict verdict = Verdict::pass;
    std::string text{};            // why it is no pass
    std::uint64_t states = 0;      // reached, known ones too
    std::uint64_t distinct = 0;    // by fingerprint
    std::uint64_t transitions = 0; // actions taken
    std::uint64_t frontier = 0;    // distinct states from which nothing was tried
    std::uint64_t cut = 0;         // states left out: too many messages under way
    std::uint32_t depth = 0;       // actions to the deepest state
    std::array<std::uint64_t, all_action_kinds.size()> taken{}; // transitions by kind
    std::vector<ExploredGoal> goals{};
    std::string property{};             // what was broken
    Broken broken{};                    // and how
    std::vector<ExploredAction> path{}; // from the start to the violation: a shortest one
};

/// A path taken once more.
struct Retrace {
    struct Place {
        ExploredAction action{};
        Digest128 state{}; // the fingerprint after it
        std::vector<NodeWords> nodes{};
    };
    std::vector<Place> places{};
    Verdict verdict = Verdict::pass; // fail, error, or pass when nothing is broken on the way
    std::string property{};
    Broken broken{};
    std::string astray{}; // why the path could not be taken to its end; empty: it could
};

} // namespace promtact::engine
