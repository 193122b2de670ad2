// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// That something good happens: goals a run must reach, and bounds on how long it may take once
// faults have ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/fault.hpp>
#include <promtact/engine/run_config.hpp>

namespace promtact::engine {

/// Whether progress is possible under the fault in the long run: a condition to live with, such as
/// a slow or lossy network, and no failure that must end first.
constexpr bool is_background(const Fault& fault) noexcept {
    switch (fault.kind) {
    case FaultKind::delay:
    case FaultKind::reorder:
    case FaultKind::duplicate:
    case FaultKind::clock:
        return true;
    case FaultKind::loss:
        return std::get<LossParams>(fault.params).probability < Ppm(Ppm::one);
    case FaultKind::corrupt:
        return std::get<CorruptParams>(fault.params).probability < Ppm(Ppm::one);
    default:
        return false;
    }
}

/// The step at which the last failure of the plan has ended, 0 without one; nothing when one lasts
/// until the end of the run.
inline std::optional<Step> healed_at(const RunConfig& config) {
    if (!config.heals) return std::nullopt;
    Step last{};
    for (const Fault& fault : config.faults) {
        if (fault.end == end_of_run && is_background(fault)) continue;
        if (fault.end == end_of_run && fault.kind != FaultKind::restart) return std::nullopt;
        last = std::max(last, fault.kind == FaultKind::restart ? fault.start + 1 : fault.end);
    }
    return last;
}

/// Sentences that must have been true at least once in a run, or it says nothing.
class Goals {
  public:
    /// Named before the run, so that what is never reached is known to be missing.
    void declare(std::string sentence) {
        if (index(sentence) == goals_.size()) goals_.push_back({std::move(sentence), 0});
    }
    /// Requires: declared
    void reach(std::string_view sentence) {
        const std::size_t at = index(sentence);
        PROMTACT_ASSERT(at < goals_.size());
        ++goals_[at].times;
    }
    struct Goal {
        std::string sentence{};
        std::uint64_t times = 0;
    };
    [[nodiscard]] const std::vector<Goal>& all() const noexcept { return goals_; }
    [[nodiscard]] bool reached(std::string_view sentence) const {
        const std::size_t at = index(sentence);
        return at < goals_.size() && goals_[at].times > 0;
    }

  private:
    [[nodiscard]] std::size_t index(std::string_view sentence) const {
        std::size_t at = 0;
        while (at < goals_.size() && goals_[at].sentence != sentence)
            ++at;
        return at;
    }
    std::vector<Goal> goals_{};
};

/// A condition that must come true within some steps after the last fault ended.
struct Eventually {
    std::string name{};
    std::uint64_t within = 0; // steps
    std::function<bool()> holds{};
    std::function<bool()> expected{};       // may be empty: whether anybody asked for it at all
    std::function<std::string()> explain{}; // may be empty: what stands in its way
    bool reached = false;                   // since the faults ended
};

} // namespace promtact::engine
