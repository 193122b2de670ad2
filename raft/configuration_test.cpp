// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <promtact/raft/configuration.hpp>

namespace promtact::raft {
namespace {

Configuration joint() {
    Configuration made;
    made.voters = {1, 2, 3};
    made.outgoing = {1, 4};
    made.learners = {7};
    made.learners_next = {4};
    made.auto_leave = true;
    return made;
}

std::string reason(const Configuration& configuration) {
    auto result = validate(configuration);
    return result ? "valid" : std::move(result).error().context;
}

TEST(Configuration, KnowsWhoVotesAndWhoTakesPart) {
    const Configuration c = joint();
    EXPECT_TRUE(c.is_joint());
    EXPECT_TRUE(c.is_voter(3));
    EXPECT_TRUE(c.is_voter(4)); // still, in the outgoing set
    EXPECT_FALSE(c.is_voter(7));
    EXPECT_TRUE(c.is_learner(7));
    EXPECT_FALSE(c.is_learner(4)); // not yet
    EXPECT_TRUE(c.contains(7));
    EXPECT_FALSE(c.contains(5));
    EXPECT_FALSE(c.contains(no_node));
    EXPECT_EQ(members_of(c), (std::vector<NodeId>{1, 2, 3, 4, 7}));
    EXPECT_FALSE(Configuration{}.is_joint());
}

TEST(Configuration, IsMadeOfIdsInAnyOrder) {
    const Configuration made = make_configuration({3, 1, 2, 3}, {9, 8});
    EXPECT_EQ(made.voters, (std::vector<NodeId>{1, 2, 3}));
    EXPECT_EQ(made.learners, (std::vector<NodeId>{8, 9}));
    EXPECT_EQ(reason(made), "valid");
}

TEST(Configuration, SaysItselfInOneLine) {
    EXPECT_EQ(to_string(joint()), "voters=(1 2 3)&&(1 4) learners=(7) learners_next=(4) autoleave");
    EXPECT_EQ(to_string(Configuration{}), "voters=()");
}

TEST(Configuration, RefusesWhatContradictsItself) {
    EXPECT_EQ(reason(joint()), "valid");
    EXPECT_EQ(reason({}), "valid");
    const auto broken = [](auto change) {
        Configuration c = joint();
        change(c);
        return reason(c);
    };
    const std::string head = "configuration: ";
    EXPECT_EQ(broken([](auto& c) { c.voters = {0, 1}; }), head + "voters holds member 0");
    EXPECT_EQ(
        broken([](auto& c) {
            c.voters = {2, 1};
        }),
        head + "voters is not in ascending order at member 1");
    EXPECT_EQ(
        broken([](auto& c) {
            c.learners = {7, 7};
        }),
        head + "learners is not in ascending order at member 7");
    EXPECT_EQ(
        broken([](auto& c) { c.learners = {2}; }), head + "member 2 is in learners and in voters");
    EXPECT_EQ(
        broken([](auto& c) { c.learners = {4}; }),
        head + "member 4 is in learners and in outgoing");
    EXPECT_EQ(
        broken([](auto& c) { c.learners_next = {7}; }),
        head + "member 7 is in learners_next but not in outgoing");
    EXPECT_EQ(
        broken([](auto& c) { c.learners_next = {1}; }),
        head + "member 1 is in learners_next and in voters");
    EXPECT_EQ(broken([](auto& c) { c.voters.clear(); }), head + "nobody votes");
    EXPECT_EQ(
        broken([](auto& c) {
            c.outgoing.clear();
            c.learners_next.clear();
        }),
        head + "auto_leave without outgoing voters");
    EXPECT_EQ(
        broken([](auto& c) {
            for (NodeId id = 100; id < 100 + configuration_members_max; ++id)
                c.voters.push_back(id);
        }),
        head + "a set holds 4099 members");
}

TEST(Configuration, CommitsWhatBothSetsHave) {
    const Configuration c = joint();
    std::map<NodeId, Index> matched{{1, 10}, {2, 9}, {3, 0}, {4, 3}, {7, 99}};
    const auto acknowledged = [&matched](NodeId id) { return matched.at(id); };
    std::vector<Index> scratch;
    EXPECT_EQ(committed_index(c, acknowledged, scratch), 3U);
    matched[4] = 20;
    EXPECT_EQ(committed_index(c, acknowledged, scratch), 9U);
    const Configuration left = make_configuration({1, 2, 3}, {4, 7});
    matched[4] = 0;
    EXPECT_EQ(committed_index(left, acknowledged, scratch), 9U);
}

TEST(Configuration, QuorumNeedsBothSets) {
    const Configuration c = joint();
    const auto all_but = [](std::vector<NodeId> away) {
        return [away = std::move(away)](NodeId id) {
            for (const NodeId gone : away)
                if (gone == id) return false;
            return true;
        };
    };
    EXPECT_TRUE(has_quorum(c, all_but({})));
    EXPECT_TRUE(has_quorum(c, all_but({3, 7})));
    EXPECT_FALSE(has_quorum(c, all_but({4})));
    EXPECT_FALSE(has_quorum(c, all_but({2, 3})));
    EXPECT_TRUE(has_quorum(make_configuration({1, 2, 3}), all_but({4})));
}

TEST(Configuration, DigestTellsEverySetApart) {
    const Digest128 whole = digest(joint());
    EXPECT_EQ(whole, digest(joint()));
    Configuration other = joint();
    other.auto_leave = false;
    EXPECT_NE(digest(other), whole);
    other = joint();
    other.learners_next.clear();
    EXPECT_NE(digest(other), whole);
    // The same ids in other sets.
    EXPECT_NE(digest(make_configuration({1, 2})), digest(make_configuration({1}, {2})));
}

} // namespace
} // namespace promtact::raft
