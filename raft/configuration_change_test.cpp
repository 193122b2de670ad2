// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/raft/configuration_change.hpp>

namespace promtact::raft {
namespace {

using Steps = std::vector<ConfigurationStep>;

ConfigurationStep add(NodeId id) {
    return {.kind = StepKind::add_voter, .member = id};
}
ConfigurationStep learn(NodeId id) {
    return {.kind = StepKind::add_learner, .member = id};
}
ConfigurationStep drop(NodeId id) {
    return {.kind = StepKind::remove, .member = id};
}

std::string text(Result<Configuration> result) {
    return result ? to_string(*result) : std::string(result.error().context);
}

std::string text(ChangeRefusal refusal) {
    return std::string(to_string(refusal));
}

TEST(ConfigurationChange, SimpleMovesOneVoterAndAnyLearners) {
    const Configuration before = make_configuration({1, 2, 3});
    EXPECT_EQ(text(simple(before, Steps{add(4)})), "voters=(1 2 3 4)");
    EXPECT_EQ(text(simple(before, Steps{drop(2)})), "voters=(1 3)");
    EXPECT_EQ(text(simple(before, Steps{learn(2)})), "voters=(1 3) learners=(2)");
    EXPECT_EQ(text(simple(before, Steps{learn(8), learn(9)})), "voters=(1 2 3) learners=(8 9)");
    const auto refused = text(ChangeRefusal::several_voters);
    EXPECT_EQ(text(simple(before, Steps{add(4), add(5)})), refused);
    EXPECT_EQ(text(simple(before, Steps{add(4), drop(1)})), refused);
    EXPECT_EQ(text(simple(before, Steps{learn(1), learn(2)})), refused);
}

TEST(ConfigurationChange, RepetitionAndAbsenceAreNoErrors) {
    const Configuration before = make_configuration({1, 2}, {3});
    const std::string same = "voters=(1 2) learners=(3)";
    EXPECT_EQ(text(simple(before, Steps{add(1), learn(3), drop(9)})), same);
    EXPECT_EQ(text(simple(before, Steps{add(no_node), drop(no_node)})), same);
    EXPECT_EQ(text(simple(before, Steps{{.kind = StepKind::update, .member = 1}})), same);
    EXPECT_EQ(text(simple(before, Steps{learn(1), add(1)})), same);
}

TEST(ConfigurationChange, APromotedLearnerVotes) {
    EXPECT_EQ(text(simple(make_configuration({1}, {2}), Steps{add(2)})), "voters=(1 2)");
}

TEST(ConfigurationChange, SomebodyMustVote) {
    const auto refused = text(ChangeRefusal::removes_all_voters);
    EXPECT_EQ(text(simple(make_configuration({1}), Steps{drop(1)})), refused);
    EXPECT_EQ(text(simple(make_configuration({1}), Steps{learn(1)})), refused);
    EXPECT_EQ(text(simple({}, Steps{learn(1)})), refused);
    EXPECT_EQ(text(simple({}, Steps{add(1)})), "voters=(1)");
    EXPECT_EQ(
        text(enter_joint(make_configuration({1, 2}), true, Steps{drop(1), drop(2)})), refused);
}

TEST(ConfigurationChange, JointKeepsTheOldVotersUntilItIsLeft) {
    const Configuration before = make_configuration({1, 2, 3}, {9});
    auto joint = enter_joint(before, true, Steps{drop(1), learn(2), add(4), add(9), learn(5)});
    ASSERT_TRUE(joint);
    EXPECT_EQ(
        to_string(*joint), "voters=(3 4 9)&&(1 2 3) learners=(5) learners_next=(2) autoleave");
    EXPECT_EQ(text(leave_joint(*joint)), "voters=(3 4 9) learners=(2 5)");
    EXPECT_EQ(text(enter_joint(before, false, {})), "voters=(1 2 3)&&(1 2 3) learners=(9)");
}

TEST(ConfigurationChange, AStagedLearnerCanStillBeRemovedOrPromoted) {
    const Configuration before = make_configuration({1, 2});
    EXPECT_EQ(text(enter_joint(before, false, Steps{learn(2), drop(2)})), "voters=(1)&&(1 2)");
    EXPECT_EQ(text(enter_joint(before, false, Steps{learn(2), add(2)})), "voters=(1 2)&&(1 2)");
    EXPECT_EQ(
        text(enter_joint(before, false, Steps{drop(2), learn(2)})),
        "voters=(1)&&(1 2) learners_next=(2)");
}

TEST(ConfigurationChange, WhileJointNothingButLeavingIsPossible) {
    auto joint = enter_joint(make_configuration({1}), false, Steps{add(2)});
    ASSERT_TRUE(joint);
    EXPECT_EQ(text(enter_joint(*joint, false, {})), text(ChangeRefusal::already_joint));
    EXPECT_EQ(text(simple(*joint, Steps{add(3)})), text(ChangeRefusal::simple_while_joint));
    EXPECT_EQ(text(leave_joint(make_configuration({1}))), text(ChangeRefusal::not_joint));
    EXPECT_EQ(
        text(enter_joint({}, false, Steps{add(1)})), text(ChangeRefusal::joint_without_voter));
}

TEST(ConfigurationChange, RefusesMoreMembersThanAConfigurationHolds) {
    Steps many;
    for (NodeId id = 1; id <= configuration_members_max; ++id)
        many.push_back(learn(id + 1));
    EXPECT_EQ(text(simple(make_configuration({1}), many)), text(ChangeRefusal::too_many_members));
}

TEST(ConfigurationChange, ChoosesTheWayTheChangeAsksFor) {
    const Configuration before = make_configuration({1, 2});
    ConfigurationChange change;
    change.steps = {add(3)};
    EXPECT_EQ(text(apply_change(before, change)), "voters=(1 2 3)");
    change.transition = Transition::joint_explicit;
    EXPECT_EQ(text(apply_change(before, change)), "voters=(1 2 3)&&(1 2)");
    change.transition = Transition::joint_implicit;
    EXPECT_EQ(text(apply_change(before, change)), "voters=(1 2 3)&&(1 2) autoleave");
    change.transition = Transition::automatic;
    change.steps.push_back(drop(1));
    auto joint = apply_change(before, change);
    ASSERT_TRUE(joint);
    EXPECT_EQ(to_string(*joint), "voters=(2 3)&&(1 2) autoleave");
    EXPECT_EQ(text(apply_change(*joint, {})), "voters=(2 3)");
}

/// Steps drawn from few members, so that they meet.
Steps drawn(std::uint64_t round) {
    Steps steps;
    const auto bits = [round](std::uint64_t position, std::uint32_t bound) {
        return promtact_bounded(
            promtact_choose(11, PROMTACT_PURPOSE_WORKLOAD, round, position), bound);
    };
    const std::uint32_t count = bits(0, 9) / 2;
    for (std::uint32_t i = 0; i < count; ++i) {
        steps.push_back(
            {.kind = static_cast<StepKind>(bits(2 * i + 1, 4)), .member = bits(2 * i + 2, 7)});
    }
    return steps;
}

/// Whether some majority of one set of voters misses some majority of the other. What can elect
/// or commit under one configuration must meet what can under the next.
bool majorities_can_miss(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
    std::set<NodeId> all(a.begin(), a.end());
    all.insert(b.begin(), b.end());
    const std::vector<NodeId> ids(all.begin(), all.end());
    for (std::uint32_t chosen = 0; chosen < (1U << ids.size()); ++chosen) {
        const auto in = [&](NodeId id) {
            const auto at = std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
            return (chosen >> at & 1U) != 0;
        };
        const auto count = [&](const std::vector<NodeId>& set, bool wanted) {
            std::size_t n = 0;
            for (const NodeId id : set)
                n += in(id) == wanted ? 1 : 0;
            return n;
        };
        if (count(a, true) >= majority_of(a.size()) && count(b, false) >= majority_of(b.size()))
            return true;
    }
    return false;
}

TEST(ConfigurationChange, EveryAcceptedChangeIsValidAndItsMajoritiesMeet) {
    Configuration now = make_configuration({1, 2, 3});
    std::uint32_t simple_changes = 0;
    std::uint32_t joint_changes = 0;
    std::uint32_t refusals = 0;
    for (std::uint64_t round = 0; round < 20000; ++round) {
        ConfigurationChange change;
        change.steps = drawn(round);
        change.transition =
            round % 4 < 2 ? Transition::automatic : static_cast<Transition>(round % 4 - 1);
        auto next = apply_change(now, change);
        if (!next) {
            ++refusals;
            EXPECT_EQ(next.error().code, Errc::refused);
            continue;
        }
        ASSERT_TRUE(validate(*next)) << to_string(now) << " -> " << to_string(*next);
        if (next->is_joint()) {
            ++joint_changes;
            EXPECT_EQ(next->outgoing, now.voters);
        } else if (now.is_joint()) {
            EXPECT_EQ(next->voters, now.voters);
        } else {
            ++simple_changes;
            ASSERT_FALSE(majorities_can_miss(now.voters, next->voters))
                << to_string(now) << " -> " << to_string(*next);
        }
        now = *next;
    }
    EXPECT_GT(simple_changes, 100U);
    EXPECT_GT(joint_changes, 100U);
    EXPECT_GT(refusals, 100U);
    // The negative control: two voters at once can miss.
    EXPECT_TRUE(majorities_can_miss({1}, {1, 2, 3}));
}

} // namespace
} // namespace promtact::raft
