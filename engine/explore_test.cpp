// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The search itself, on a cluster small enough to count by hand: a client gives node 1 a token, and
// each token is passed on once, to node 2.
#include <exception>
#include <string>

#include <gtest/gtest.h>

#include <promtact/engine/explore.hpp>

namespace promtact::engine {
namespace {

struct Token {
    NodeId from{}, to{};
    std::uint64_t number = 0;
};

struct TokensMistakes {
    bool throws = false;        // when token 2 arrives
    bool throws_number = false; // the same, but no std::exception
    bool forgets = false;       // a copy lacks what was sent and is not told yet
    bool no_time = true;        // ticks change nothing
};

class Tokens {
  public:
    using Message = Token;
    explicit Tokens(TokensMistakes mistakes = {}) : mistakes_(mistakes) {}

    [[nodiscard]] std::span<const NodeId> nodes() const { return ids_; }
    void tick(NodeId node) {
        if (mistakes_.no_time || node != NodeId(2) || ++waited_ % 3 != 0) return;
        out_.push_back({node, NodeId(1), 100 + waited_});
    }
    void deliver(NodeId, const Token& token) {
        if (mistakes_.throws && token.number == 2) sum += std::stoul("no number");
        if (mistakes_.throws_number && token.number == 2)
            std::rethrow_exception(std::make_exception_ptr(2));
        sum += token.number;
        if (token.to == NodeId(2)) ++arrived;
    }
    void drain(NodeId node, Outbox<Token>& outbox) {
        for (const Token& token : out_)
            if (token.from == node) outbox.send(token);
        std::erase_if(out_, [node](const Token& token) { return token.from == node; });
    }
    [[nodiscard]] Route route(const Token& token) const { return {token.from, token.to}; }
    [[nodiscard]] Digest128 digest(const Token& token) const { return {0, token.number}; }
    [[nodiscard]] Tokens clone() const {
        Tokens copy = *this;
        if (mistakes_.forgets) copy.sum = 0;
        return copy;
    }
    [[nodiscard]] Digest128 fingerprint() const {
        TraceHash hash;
        hash.add<4>({{sum, arrived, crashes, waited_}});
        return hash.value();
    }
    [[nodiscard]] std::string describe(NodeId) const { return "sum " + std::to_string(sum); }
    void crash(NodeId) { ++crashes; }
    void restart(NodeId) {}
    void give(std::uint64_t number) { out_.push_back({NodeId(1), NodeId(2), number}); }

    std::uint64_t sum = 0;
    std::uint64_t arrived = 0;
    std::uint64_t crashes = 0;

  private:
    TokensMistakes mistakes_;
    std::vector<NodeId> ids_{NodeId(1), NodeId(2)};
    std::vector<Token> out_{};
    std::uint64_t waited_ = 0;
};

bool give(Tokens& tokens, std::uint64_t number, std::span<const NodeId> down) {
    if (!down.empty()) return false;
    tokens.give(number);
    return true;
}

ExploreReport explore(const ExploreBounds& bounds, const TokensMistakes& mistakes = {}) {
    const Tokens start(mistakes);
    Explorer<Tokens> explorer(start, bounds);
    explorer.commands(give);
    return explorer.run();
}

TEST(Explore, CountsWhatCanBeCountedByHand) {
    // Given, under way or arrived: no token, one (2 states), two (4 states).
    const ExploreReport report = explore({.commands = 2});
    EXPECT_EQ(report.verdict, Verdict::pass) << report.text;
    EXPECT_EQ(report.distinct, 7U);
    EXPECT_EQ(report.transitions, 8U);
    EXPECT_EQ(report.states, 9U) << "the first needs no action";
    EXPECT_EQ(report.depth, 4U);
    EXPECT_EQ(report.frontier, 0U);
    EXPECT_EQ(report.taken[static_cast<std::size_t>(ActionKind::command)], 3U);
    EXPECT_EQ(report.taken[static_cast<std::size_t>(ActionKind::deliver)], 5U);
}

TEST(Explore, EachLimitOpensItsAction) {
    const std::uint64_t plain = explore({.commands = 1}).distinct;
    EXPECT_EQ(plain, 3U);
    EXPECT_EQ(explore({.commands = 1, .losses = 1}).distinct, plain + 1);
    // Delivered while it stays: under way still, arrived twice.
    EXPECT_EQ(explore({.commands = 1, .copies = 1}).distinct, plain + 2);
    EXPECT_GT(explore({.commands = 1, .crashes = 1}).distinct, plain);
    EXPECT_GT(explore({.commands = 1, .ticks = 1}).distinct, plain);
}

TEST(Explore, ATimeoutIsAsManyTicksAsItTakes) {
    const ExploreReport report = explore({.commands = 0, .timeouts = 1}, {.no_time = false});
    EXPECT_EQ(report.verdict, Verdict::pass) << report.text;
    EXPECT_EQ(report.taken[static_cast<std::size_t>(ActionKind::timeout)], 1U) << "node 2 only";
    const ExploreReport never = explore({.timeouts = 1});
    EXPECT_EQ(never.verdict, Verdict::vacuous) << "nobody waits for anything";
    EXPECT_EQ(never.text, "never happened: timeout");
}

TEST(Explore, WhatIsLeftIsNoPass) {
    const ExploreReport all = explore({.states = 7});
    EXPECT_EQ(all.verdict, Verdict::pass) << "just enough";
    const ExploreReport few = explore({.states = 6});
    EXPECT_EQ(few.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(few.distinct, 6U);
    EXPECT_GT(few.frontier, 0U);
    const ExploreReport shallow = explore({.depth = 3});
    EXPECT_EQ(shallow.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(shallow.frontier, 2U) << "one token arrived, the other is under way";
    EXPECT_EQ(explore({.depth = 5}).verdict, Verdict::pass);
    const ExploreReport cut = explore({.under_way = 1});
    EXPECT_EQ(cut.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(cut.cut, 1U);
}

TEST(Explore, AGoalThatNoStateReachesIsNoPass) {
    const Tokens start;
    for (const std::uint64_t wanted : {3U, 4U}) {
        Explorer<Tokens> explorer(start, {});
        explorer.commands(give);
        explorer.goal(
            "the sum is there", [wanted](const Tokens& tokens) { return tokens.sum == wanted; });
        const ExploreReport report = explorer.run();
        EXPECT_EQ(report.verdict, wanted == 3 ? Verdict::pass : Verdict::vacuous);
        EXPECT_EQ(report.goals.front().reached, wanted == 3);
        EXPECT_EQ(report.goals.front().depth, wanted == 3 ? 4U : 0U);
    }
    Explorer<Tokens> idle(start, {});
    EXPECT_EQ(idle.run().verdict, Verdict::vacuous) << "nothing happened";
}

std::optional<Broken> none_above(const Tokens& tokens, std::uint64_t limit) {
    if (tokens.sum <= limit) return std::nullopt;
    return Broken{.text = std::to_string(tokens.sum), .key = "above"};
}

TEST(Explore, APathIsShortestAndIsTakenAgain) {
    const Tokens start;
    Explorer<Tokens> explorer(start, {.commands = 3, .losses = 1});
    explorer.commands(give);
    explorer.watch("sum", [](const Tokens& tokens) { return none_above(tokens, 1); });
    ExploreReport report = explorer.run();
    ASSERT_EQ(report.verdict, Verdict::fail);
    // Token 2 alone is enough, and it is given second.
    ASSERT_EQ(report.path.size(), 3U);
    EXPECT_EQ(report.path[2].kind, ActionKind::deliver);
    EXPECT_EQ(report.depth, 3U);
    const Retrace again = explorer.retrace(report.path);
    EXPECT_EQ(again.verdict, Verdict::fail);
    EXPECT_EQ(again.broken.text, "2");
    ASSERT_EQ(again.places.size(), 3U);
    EXPECT_EQ(again.places[2].nodes.front().words, "sum 2");

    std::swap(report.path[0], report.path[2]);
    EXPECT_NE(explorer.retrace(report.path).astray, "") << "nothing is under way there";
    std::swap(report.path[0], report.path[2]);
    report.path.push_back(report.path.front());
    EXPECT_NE(explorer.retrace(report.path).astray, "") << "it is broken before the path ends";
    report.path.resize(2);
    const Retrace half = explorer.retrace(report.path);
    EXPECT_EQ(half.verdict, Verdict::pass);
    EXPECT_EQ(half.astray, "");
}

TEST(Explore, APropertyOfTwoStatesSeesActionsThatLeadToKnownStates) {
    const Tokens start;
    Explorer<Tokens> explorer(start, {.losses = 1});
    explorer.commands(give);
    explorer.watch_step("two first", [](const Tokens& before, const Tokens& after) {
        const bool backwards = before.sum == 2 && after.sum == 3;
        return backwards ? std::optional(Broken{.text = "one came last"}) : std::nullopt;
    });
    const ExploreReport report = explorer.run();
    EXPECT_EQ(report.verdict, Verdict::fail);
    EXPECT_EQ(report.path.size(), 4U);
    EXPECT_EQ(explorer.retrace(report.path).property, "two first");
}

TEST(Explore, WhatTheClusterThrowsIsAnErrorWithItsPath) {
    for (const bool exception : {true, false}) {
        const TokensMistakes mistakes{.throws = exception, .throws_number = !exception};
        const ExploreReport report = explore({}, mistakes);
        EXPECT_EQ(report.verdict, Verdict::error);
        EXPECT_NE(report.text.find("threw"), std::string::npos) << report.text;
        ASSERT_EQ(report.path.size(), 3U);
        EXPECT_EQ(report.path.back().kind, ActionKind::deliver);
        const Tokens start(mistakes);
        Explorer<Tokens> explorer(start, {});
        explorer.commands(give);
        const Retrace again = explorer.retrace(report.path);
        EXPECT_EQ(again.verdict, Verdict::error);
        EXPECT_EQ(again.astray, "");
    }
}

TEST(Explore, T10ACopyThatMissesAFieldIsAnError) {
    const ExploreReport report = explore({}, {.forgets = true});
    EXPECT_EQ(report.verdict, Verdict::error);
    EXPECT_NE(report.text.find("not whole"), std::string::npos) << report.text;
}

TEST(Explore, ItEndsWhenAsked) {
    const Tokens start;
    Explorer<Tokens> explorer(start, {.commands = 12, .losses = 12});
    explorer.commands(give);
    std::uint64_t asked = 0;
    const ExploreReport report = explorer.run([&](const ExploreReport& so_far) {
        EXPECT_GT(so_far.distinct, 0U);
        return ++asked < 2;
    });
    EXPECT_EQ(asked, 2U);
    EXPECT_EQ(report.verdict, Verdict::budget_exhausted);
    EXPECT_EQ(report.text, "interrupted");
}

} // namespace
} // namespace promtact::engine
