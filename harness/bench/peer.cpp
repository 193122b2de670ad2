// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/peer.hpp"

#include <promtact/base/assert.hpp>

namespace promtact::harness::bench {
namespace {

Result<void> one_block(const PeerPlan& plan, PeerComparison& comparison) {
    for (const bool ours_first : {true, false}) { // A B, then B A
        for (const bool first : {true, false}) {
            const bool run_ours = ours_first == first;
            PROMTACT_TRY_ASSIGN(const RunFigures run, run_ours ? plan.ours() : plan.theirs());
            (run_ours ? comparison.ours : comparison.theirs).push_back(run);
        }
    }
    return {};
}

RatioInterval
ratio_of(const PeerComparison& comparison, std::uint64_t RunFigures::*figure, std::uint64_t seed) {
    std::vector<std::uint64_t> ours;
    std::vector<std::uint64_t> theirs;
    for (const RunFigures& run : comparison.ours)
        ours.push_back(run.*figure);
    for (const RunFigures& run : comparison.theirs)
        theirs.push_back(run.*figure);
    return paired_ratio(ours, theirs, seed);
}

Result<void> check_run(const RunFigures& run) {
    if (run.operations_per_second > 0 && run.p50_ns > 0) return {};
    return Error{Errc::out_of_range, 0, "a run was too short to be measured"};
}

} // namespace

std::string_view to_string(PeerVerdict verdict) noexcept {
    switch (verdict) {
    case PeerVerdict::pass:
        return "pass";
    case PeerVerdict::inconclusive:
        return "inconclusive";
    case PeerVerdict::fail:
        return "fail";
    }
    PROMTACT_UNREACHABLE();
}

PeerVerdict judge_peer(
    const RatioInterval& operations, const RatioInterval& p50, const PeerLimits& limits) noexcept {
    if (operations.high_ppm < limits.operations_ratio_ppm_min ||
        p50.low_ppm > limits.p50_ratio_ppm_max)
        return PeerVerdict::fail;
    if (operations.point_ppm >= limits.operations_ratio_ppm_min &&
        p50.point_ppm <= limits.p50_ratio_ppm_max)
        return PeerVerdict::pass;
    return PeerVerdict::inconclusive;
}

Result<PeerComparison> compare_with_peer(const PeerPlan& plan) {
    PROMTACT_ASSERT(plan.blocks > 0);
    PROMTACT_ASSERT(plan.rounds_max > 0);
    PROMTACT_TRY_ASSIGN(const RunFigures warm_ours, plan.ours());
    PROMTACT_TRY_ASSIGN(const RunFigures warm_theirs, plan.theirs());
    PROMTACT_TRY(check_run(warm_ours));
    PROMTACT_TRY(check_run(warm_theirs));
    PeerComparison comparison;
    bool every_round_failed = true;
    for (std::uint32_t round = 1; round <= plan.rounds_max; ++round) {
        comparison = {};
        comparison.rounds = round;
        for (std::uint32_t block = 0; block < plan.blocks; ++block)
            PROMTACT_TRY(one_block(plan, comparison));
        for (std::size_t i = 0; i < comparison.ours.size(); ++i) {
            PROMTACT_TRY(check_run(comparison.ours[i]));
            PROMTACT_TRY(check_run(comparison.theirs[i]));
        }
        comparison.operations = ratio_of(comparison, &RunFigures::operations_per_second, plan.seed);
        comparison.p50 = ratio_of(comparison, &RunFigures::p50_ns, plan.seed);
        comparison.verdict = judge_peer(comparison.operations, comparison.p50, plan.limits);
        if (plan.after_round) plan.after_round(comparison);
        if (comparison.verdict == PeerVerdict::pass) return comparison;
        every_round_failed = every_round_failed && comparison.verdict == PeerVerdict::fail;
    }
    comparison.verdict = every_round_failed ? PeerVerdict::fail : PeerVerdict::inconclusive;
    return comparison;
}

} // namespace promtact::harness::bench
