// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fmt/format.h>

#include <promtact/base/numbers.hpp>
#include <promtact/sim/run.hpp>

#include "sweep_text_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::size_t failures_shown = 10;

std::uint64_t per_second(std::uint64_t count, std::chrono::nanoseconds wall) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(wall.count(), 1));
    return static_cast<std::uint64_t>(static_cast<double>(count) * 1e9 / static_cast<double>(ns));
}

} // namespace

std::string text_of(const SweepReport& report) {
    const SweepTotals& totals = report.totals;
    std::string text = fmt::format(
        "scenario  {}\nprotocol  {}\nstrategy  {}, {} faults drawn for a seed\n",
        report.scenario.name, report.protocol, report.strategy, report.strategy_faults);
    text += fmt::format(
        "seeds     {} from {}, {} a second, {} of them run twice\n", totals.seeds,
        format_seed(report.first), per_second(totals.seeds, report.wall), totals.twins);
    if (report.shard.of > 1 && report.merged.empty())
        text += fmt::format("shard     {} of {}\n", report.shard.index, report.shard.of);
    if (!report.merged.empty())
        text += fmt::format("shards    {} of {}\n", report.merged.size(), report.shard.of);
    text += fmt::format(
        "work      {} steps, {} deliveries, {} deliveries a second\n", totals.steps,
        totals.deliveries, per_second(totals.deliveries, report.wall));
    for (std::size_t i = 0; i < totals.verdicts.size(); ++i) {
        if (totals.verdicts[i] > 0) {
            text += fmt::format(
                "runs      {} {}\n", to_string(engine::all_verdicts[i]), totals.verdicts[i]);
        }
    }
    for (const engine::Goals::Goal& goal : totals.goals)
        text += fmt::format("goal      {}: reached {} times\n", goal.sentence, goal.times);
    for (std::size_t i = 0; i < totals.faults.size(); ++i) {
        text +=
            fmt::format("fault     {}: {}\n", name_of(report.scenario.faults[i]), totals.faults[i]);
    }
    for (std::size_t i = 0; i < report.failures.size() && i < failures_shown; ++i) {
        const SweepFailure& failure = report.failures[i];
        const std::string& property = failure.outcome.property;
        text += fmt::format(
            "failure   seed {}, step {}: {}{}{}\n", format_seed(failure.seed), failure.outcome.step,
            property, property.empty() ? "" : ": ", failure.outcome.text);
    }
    if (report.failures.size() > failures_shown)
        text += fmt::format("          and {} more\n", report.failures.size() - failures_shown);
    const std::string why = report.text();
    return text +
           fmt::format(
               "verdict   {}{}{}\n", to_string(report.verdict()), why.empty() ? "" : ": ", why);
}

} // namespace promtact::sim
