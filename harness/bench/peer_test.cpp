// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include "bench/peer.hpp"

namespace promtact::harness::bench {
namespace {

RatioInterval interval(std::uint64_t low, std::uint64_t point, std::uint64_t high) {
    return {.low_ppm = low * 1000, .point_ppm = point * 1000, .high_ppm = high * 1000};
}

struct Row {
    const char* name;
    RatioInterval operations;
    RatioInterval p50;
    PeerVerdict verdict;
};

class PeerJudgement : public ::testing::TestWithParam<Row> {};

TEST_P(PeerJudgement, FollowsTheLimits) {
    EXPECT_EQ(judge_peer(GetParam().operations, GetParam().p50, {}), GetParam().verdict);
}

const Row rows[] = {
    {"equal", interval(990, 1000, 1010), interval(990, 1000, 1010), PeerVerdict::pass},
    {"at_the_limits", interval(900, 950, 1000), interval(1000, 1050, 1100), PeerVerdict::pass},
    {"faster", interval(1100, 1200, 1300), interval(700, 800, 900), PeerVerdict::pass},
    {"slightly_slow", interval(900, 949, 1000), interval(990, 1000, 1010),
     PeerVerdict::inconclusive},
    {"clearly_slow", interval(880, 900, 949), interval(990, 1000, 1010), PeerVerdict::fail},
    {"slightly_late", interval(990, 1000, 1010), interval(1000, 1051, 1100),
     PeerVerdict::inconclusive},
    {"clearly_late", interval(990, 1000, 1010), interval(1051, 1080, 1100), PeerVerdict::fail},
};

INSTANTIATE_TEST_SUITE_P(Rows, PeerJudgement, ::testing::ValuesIn(rows), [](const auto& row) {
    return std::string(row.param.name);
});

// A plan whose sides answer fixed figures and note the order they ran in.
struct Fixture {
    std::string order{};
    std::vector<PeerVerdict> rounds{};
    std::vector<std::uint64_t> ours_ops{1000}; // one per round, the last repeats

    PeerPlan plan() {
        PeerPlan plan;
        plan.blocks = 3;
        plan.ours = [this] {
            order += 'A';
            const std::size_t round = std::min(rounds.size(), ours_ops.size() - 1);
            return Result<RunFigures>(
                RunFigures{.operations_per_second = ours_ops[round], .p50_ns = 100});
        };
        plan.theirs = [this] {
            order += 'B';
            return Result<RunFigures>(RunFigures{.operations_per_second = 1000, .p50_ns = 100});
        };
        plan.after_round = [this](const PeerComparison& round) { rounds.push_back(round.verdict); };
        return plan;
    }
};

TEST(PeerComparison, RunsWarmUpThenBlocksOfAbba) {
    Fixture fixture;
    const auto comparison = compare_with_peer(fixture.plan());

    ASSERT_TRUE(comparison);
    EXPECT_EQ(
        fixture.order, "AB"
                       "ABBA"
                       "ABBA"
                       "ABBA");
    EXPECT_EQ(comparison->ours.size(), 6U);
    EXPECT_EQ(comparison->verdict, PeerVerdict::pass);
    EXPECT_EQ(comparison->rounds, 1U);
}

TEST(PeerComparison, RepeatsUntilARoundPasses) {
    Fixture fixture;
    fixture.ours_ops = {900, 900, 990};
    const auto comparison = compare_with_peer(fixture.plan());

    ASSERT_TRUE(comparison);
    EXPECT_EQ(comparison->verdict, PeerVerdict::pass);
    EXPECT_EQ(comparison->rounds, 3U);
}

TEST(PeerComparison, FailsWhenEveryRoundExcludesTheLimit) {
    Fixture fixture;
    fixture.ours_ops = {900};
    const auto comparison = compare_with_peer(fixture.plan());

    ASSERT_TRUE(comparison);
    EXPECT_EQ(comparison->verdict, PeerVerdict::fail);
    EXPECT_EQ(fixture.rounds.size(), 3U);
}

TEST(PeerComparison, PassesUpTheErrorOfARun) {
    Fixture fixture;
    PeerPlan plan = fixture.plan();
    plan.theirs = [] { return Result<RunFigures>(Error{Errc::io, 5, "run fio"}); };
    EXPECT_EQ(compare_with_peer(plan).error().context, "run fio");

    plan.theirs = [] { return Result<RunFigures>(RunFigures{}); };
    EXPECT_EQ(compare_with_peer(plan).error().code, Errc::out_of_range)
        << "a run without figures must not be divided by";
}

} // namespace
} // namespace promtact::harness::bench
