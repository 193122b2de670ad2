// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/engine/fate.hpp>

namespace promtact::sim {

/// Links have priorities drawn from the seed; what travels on one of a low priority waits while
/// others go ahead. At a few steps of the run the priorities are drawn anew, so that an ordering
/// with few constraints is met with a bounded chance. Source: Burckhardt and others, A Randomized
/// Scheduler with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010, section 3; links stand for
/// its threads.
class PriorityEditor final : public engine::FateEditor {
  public:
    /// changes: how often priorities are drawn anew over the run's steps
    PriorityEditor(
        std::uint64_t seed, std::uint32_t changes, std::uint64_t steps, std::uint32_t nodes)
        : seed_(seed), nodes_(nodes) {
        const ChoiceStream stream(seed, user_purpose(3), 0);
        for (std::uint32_t n = 0; n < changes; ++n)
            changes_.push_back(stream.between({n}, 1, std::max<std::uint64_t>(steps, 1)));
        std::sort(changes_.begin(), changes_.end());
        // How far priorities spread the messages is a feature of the seed, too.
        spread_ = std::uint64_t{1} << stream.between({changes}, 0, 6);
    }
    void edit(const engine::FateKey& key, engine::Fate& fate) override {
        const std::uint64_t now = key.position >> 20; // see choice.h: time and ordinal
        const auto era = static_cast<std::uint64_t>(
            std::upper_bound(changes_.begin(), changes_.end(), now) - changes_.begin());
        const auto stream =
            ChoiceStream::on_link(seed_, user_purpose(4), key.from.value(), key.to.value());
        const std::uint64_t links = std::uint64_t{nodes_} * nodes_;
        const std::uint64_t rank = stream.between({era}, 0, links - 1);
        // Half of the links are quick, the others later by their rank.
        fate.delay += rank * 2 < links ? 0 : 1 + rank * spread_ / links;
    }

  private:
    std::uint64_t seed_;
    std::uint32_t nodes_;
    std::vector<std::uint64_t> changes_{};
    std::uint64_t spread_ = 1;
};

} // namespace promtact::sim
