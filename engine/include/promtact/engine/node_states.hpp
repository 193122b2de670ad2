// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Which nodes are up, which run, and how fast their clocks go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/engine/membership.hpp>
#include <promtact/engine/run_config.hpp>

namespace promtact::engine {

/// A fault's window opens or closes.
struct Transition {
    Step at{};
    std::size_t fault = 0; // index in the plan
    bool opens = true;
};

/// All transitions of the plan in the order in which they happen. Time begins with step 1.
inline std::vector<Transition> transitions_of(const RunConfig& config) {
    constexpr Step first{1};
    std::vector<Transition> all;
    for (std::size_t i = 0; i < config.faults.size(); ++i) {
        const Fault& fault = config.faults[i];
        if (fault.end <= std::max(fault.start, first)) continue;
        all.push_back({.at = std::max(fault.start, first), .fault = i, .opens = true});
        if (fault.end != end_of_run) all.push_back({.at = fault.end, .fault = i, .opens = false});
    }
    // At one step what ends goes before what begins: two windows that meet do not overlap.
    std::stable_sort(all.begin(), all.end(), [](const Transition& x, const Transition& y) {
        return std::pair(x.at, x.opens) < std::pair(y.at, y.opens);
    });
    return all;
}

/// What the plan has done to each node so far.
class NodeStates {
  public:
    explicit NodeStates(std::uint32_t nodes) : nodes_(nodes) {}

    [[nodiscard]] bool up(std::uint32_t node) const noexcept { return at(node).down == 0; }
    [[nodiscard]] bool paused(std::uint32_t node) const noexcept { return at(node).paused > 0; }
    [[nodiscard]] bool runs(std::uint32_t node) const noexcept { return up(node) && !paused(node); }

    /// Windows may overlap: true when the node goes down, comes up, stops or goes on by this one.
    bool crash(std::uint32_t node) noexcept { return nodes_[node].down++ == 0; }
    bool restart(std::uint32_t node) noexcept {
        PROMTACT_ASSERT(node < nodes_.size());
        PROMTACT_ASSERT(nodes_[node].down > 0);
        return --nodes_[node].down == 0;
    }
    bool pause(std::uint32_t node) noexcept { return nodes_[node].paused++ == 0; }
    bool resume(std::uint32_t node) noexcept {
        PROMTACT_ASSERT(node < nodes_.size());
        PROMTACT_ASSERT(nodes_[node].paused > 0);
        return --nodes_[node].paused == 0;
    }

    void change_rate(std::uint32_t node, std::int64_t ppm) noexcept {
        nodes_[node].rate_ppm += ppm;
    }
    void jump(std::uint32_t node, std::int64_t ticks) noexcept {
        nodes_[node].owed += ticks * tick_parts;
    }

    /// One step of true time for a node that is up: how often it is to be ticked now. A clock that
    /// was set back stands still until it is made up for.
    [[nodiscard]] std::uint64_t ticks(std::uint32_t node) noexcept {
        PROMTACT_ASSERT(node < nodes_.size());
        Node& state = nodes_[node];
        state.owed += tick_parts + state.rate_ppm;
        if (state.owed < tick_parts) return 0;
        const std::int64_t whole = state.owed / tick_parts;
        state.owed %= tick_parts;
        state.shown += whole;
        return static_cast<std::uint64_t>(whole);
    }
    /// Ticks the node's own clock shows.
    [[nodiscard]] std::int64_t shown(std::uint32_t node) const noexcept { return at(node).shown; }

  private:
    static constexpr std::int64_t tick_parts = 1'000'000; // of a tick

    struct Node {
        std::uint32_t down = 0; // windows that keep it down
        std::uint32_t paused = 0;
        std::int64_t rate_ppm = 0;
        std::int64_t owed = 0; // parts of a tick not given yet
        std::int64_t shown = 0;
    };
    [[nodiscard]] const Node& at(std::uint32_t node) const noexcept {
        PROMTACT_ASSERT(node < nodes_.size());
        return nodes_[node];
    }
    std::vector<Node> nodes_;
};

} // namespace promtact::engine
