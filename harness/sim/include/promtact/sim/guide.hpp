// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A search that keeps what led somewhere new: plans whose runs passed through states of a shape not
// seen before are changed a little and run again.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/sim/strategy.hpp>

namespace promtact::sim {

/// The shape of a state: what the nodes say of themselves, their numbers left out.
std::uint64_t shape_of(const std::vector<NodeState>& nodes);

/// Plans the runs of one worker. What comes next depends on what was learned, so a plan is no
/// function of its seed alone: keep the case, not the seed.
class Guide {
  public:
    Guide(
        const StrategyOptions& options, const Scenario& scenario,
        const engine::Abilities& abilities)
        : options_(options), scenario_(scenario), abilities_(abilities) {
        options_.kind = StrategyKind::swarm;
    }

    Case next(std::uint64_t seed);
    /// The shapes that the run of the last plan passed through.
    void learn(const Case& run, const std::set<std::uint64_t>& shapes);

    [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }
    [[nodiscard]] std::size_t shapes() const noexcept { return shapes_.size(); }

  private:
    static constexpr std::size_t kept_max = 512;
    [[nodiscard]] Case changed(const Case& kept, std::uint64_t seed) const;

    StrategyOptions options_;
    Scenario scenario_;
    engine::Abilities abilities_;
    std::vector<Case> kept_{};
    std::set<std::uint64_t> shapes_{};
};

} // namespace promtact::sim
