// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/raft/quorum.hpp>

namespace promtact::raft {
namespace {

/// By definition: the highest acknowledged index that at least a majority has reached.
Index by_counting(const std::vector<Index>& acknowledged) {
    Index best = 0;
    for (const Index candidate : acknowledged) {
        const auto reached =
            std::count_if(acknowledged.begin(), acknowledged.end(), [candidate](Index index) {
                return index >= candidate;
            });
        if (static_cast<std::size_t>(reached) * 2 > acknowledged.size())
            best = std::max(best, candidate);
    }
    return best;
}

TEST(Quorum, MajorityIsMoreThanHalf) {
    EXPECT_EQ(majority_of(1), 1U);
    EXPECT_EQ(majority_of(2), 2U);
    EXPECT_EQ(majority_of(3), 2U);
    EXPECT_EQ(majority_of(4), 3U);
    EXPECT_EQ(majority_of(200), 101U);
}

TEST(Quorum, CommitsWhatCountingCommits) {
    for (std::uint32_t voters = 1; voters <= 130; ++voters) {
        for (std::uint32_t round = 0; round < 20; ++round) {
            std::vector<Index> acknowledged(voters);
            for (std::uint32_t i = 0; i < voters; ++i) {
                acknowledged[i] = promtact_bounded(
                    promtact_choose(7, PROMTACT_PURPOSE_WORKLOAD, voters, round * 200 + i), 12);
            }
            const Index expected = by_counting(acknowledged);
            EXPECT_EQ(committed_index(std::span<Index>(acknowledged)), expected)
                << voters << " voters, round " << round;
        }
    }
}

TEST(Quorum, TheCheckByCountingCanFail) {
    // The negative control: an average instead of a majority is told apart.
    const std::vector<Index> acknowledged{9, 0, 0};
    const Index average = std::accumulate(acknowledged.begin(), acknowledged.end(), Index{0}) / 3;
    EXPECT_NE(average, by_counting(acknowledged));
}

TEST(Quorum, AnEmptySetDecidesEverything) {
    std::vector<Index> nobody;
    EXPECT_EQ(committed_index(std::span<Index>(nobody)), committed_everything);
    EXPECT_EQ(vote_result(0, 0, 0), VoteResult::won);
    EXPECT_EQ(joint_committed_index(7, committed_everything), 7U);
}

TEST(Quorum, ScratchIsReusedWithoutGrowing) {
    const std::vector<NodeId> voters{3, 5, 70};
    std::map<NodeId, Index> matched{{3, 10}, {5, 12}, {70, 11}};
    const auto acknowledged = [&matched](NodeId voter) { return matched.at(voter); };
    std::vector<Index> scratch;

    EXPECT_EQ(committed_index(std::span<const NodeId>(voters), acknowledged, scratch), 11U);
    const auto* const memory = scratch.data();
    matched[3] = 40;
    EXPECT_EQ(committed_index(std::span<const NodeId>(voters), acknowledged, scratch), 12U);
    EXPECT_EQ(scratch.data(), memory);
}

TEST(Quorum, AVoteIsPendingOnlyWhileMissingAnswersDecide) {
    for (std::size_t voters = 1; voters <= 70; ++voters) {
        for (std::size_t yes = 0; yes <= voters; ++yes) {
            for (std::size_t no = 0; yes + no <= voters; ++no) {
                const VoteResult result = vote_result(voters, yes, no);
                EXPECT_EQ(result == VoteResult::won, yes * 2 > voters);
                // Lost: even if all others said yes it would not be enough.
                EXPECT_EQ(result == VoteResult::lost, (voters - no) * 2 <= voters);
            }
        }
    }
}

TEST(Quorum, AnswersAreCountedPerVoter) {
    const std::vector<NodeId> voters{1, 64, 65, 1'000'000};
    std::map<NodeId, bool> answers{{1, true}, {64, true}, {2, true}, {9, true}};
    const auto vote = [&answers](NodeId voter) -> std::optional<bool> {
        const auto found = answers.find(voter);
        if (found == answers.end()) return std::nullopt;
        return found->second;
    };
    // Members 2 and 9 do not vote here, whatever they say.
    EXPECT_EQ(vote_result(std::span<const NodeId>(voters), vote), VoteResult::pending);
    answers[65] = false;
    EXPECT_EQ(vote_result(std::span<const NodeId>(voters), vote), VoteResult::pending);
    answers[1'000'000] = true;
    EXPECT_EQ(vote_result(std::span<const NodeId>(voters), vote), VoteResult::won);
}

TEST(Quorum, BothSetsDecideTogether) {
    using enum VoteResult;
    for (const VoteResult other : {pending, won, lost}) {
        EXPECT_EQ(joint_vote_result(lost, other), lost);
        EXPECT_EQ(joint_vote_result(other, lost), lost);
        EXPECT_EQ(joint_vote_result(won, other), other);
        EXPECT_EQ(joint_vote_result(other, won), other);
    }
    EXPECT_EQ(joint_vote_result(pending, pending), pending);
    EXPECT_EQ(to_string(pending), "pending");
    EXPECT_EQ(to_string(won), "won");
    EXPECT_EQ(to_string(lost), "lost");
}

} // namespace
} // namespace promtact::raft
