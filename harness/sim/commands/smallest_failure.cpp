// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <utility>

#include <fmt/format.h>

#include <promtact/base/progress.hpp>

#include "smallest_failure_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::uint64_t seeds_tried = 4000;
constexpr std::uint64_t failures_tried = 8;

class Smallest {
  public:
    Smallest(
        const Protocol& protocol, const Scenario& scenario, const StrategyOptions& strategy,
        const ShrinkBudget& budget, const Clock& clock)
        : protocol_(protocol), scenario_(scenario), strategy_(strategy), budget_(budget),
          clock_(clock), begin_(clock.now()),
          bar_("make it small", budget.runs, clock, Progress::for_stderr()) {}

    std::optional<ShrinkReport> of(const SweepFailure& first) {
        auto best = small(first, budget_.runs - budget_.runs / 2, budget_.time / 2);
        if (!best || budget_.runs == 0 || !first.case_text.empty()) return best;
        std::uint64_t found = 1;
        for (std::uint64_t n = 1; n < seeds_tried && found < failures_tried; ++n) {
            // It does not get simpler, or there is nothing left to try it with.
            if (best->after.weight() <= 2 || spent_ >= budget_.runs || over(budget_.time)) break;
            auto other = small(
                {.seed = first.seed + n, .outcome = first.outcome}, budget_.runs - spent_,
                budget_.time);
            if (!other) continue;
            ++found;
            if (other->after.weight() < best->after.weight()) best = std::move(other);
        }
        bar_.clear();
        return best;
    }

  private:
    [[nodiscard]] bool over(std::chrono::nanoseconds time) const {
        return clock_.now() - begin_ >= time || (budget_.interrupted && budget_.interrupted());
    }

    std::optional<ShrinkReport>
    small(const SweepFailure& failure, std::uint64_t runs, std::chrono::nanoseconds time) {
        Planned planned = plan(strategy_, scenario_, protocol_.abilities, failure.seed);
        if (!failure.case_text.empty()) {
            const auto kept = read_recording(failure.case_text, "the failing case");
            if (!kept) return std::nullopt;
            planned.run = kept->run;
        }
        // A strategy's fates become fates of the case.
        if (planned.editor) planned.run = with_fates(protocol_, planned.run, planned.editor.get());
        const Outcome again = outcome_of(run_case(protocol_, planned.run));
        if (!same_failure(again, failure.outcome)) return std::nullopt;
        if (runs == 0) return ShrinkReport{.small = record(protocol_, planned.run)};
        ShrinkOptions options{.runs_max = runs};
        options.give_up = [this, time] { return over(time); };
        options.progress = [this](std::uint64_t done, const CaseSize& size) {
            bar_.update(spent_ + done, fmt::format("{} faults, {} fates", size.faults, size.fates));
        };
        ShrinkReport report = shrink(protocol_, planned.run, options);
        spent_ += report.runs;
        return report;
    }

    const Protocol& protocol_;
    const Scenario& scenario_;
    const StrategyOptions& strategy_;
    const ShrinkBudget& budget_;
    const Clock& clock_;
    std::chrono::nanoseconds begin_;
    Progress bar_;
    std::uint64_t spent_ = 0; // runs
};

} // namespace

std::optional<ShrinkReport> smallest_failure(
    const Protocol& protocol, const Scenario& scenario, const StrategyOptions& strategy,
    const SweepFailure& first, const ShrinkBudget& budget, const Clock& clock) {
    return Smallest(protocol, scenario, strategy, budget, clock).of(first);
}

} // namespace promtact::sim
