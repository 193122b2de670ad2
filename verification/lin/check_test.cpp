// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/lin/check.hpp>

namespace promtact::lin {
namespace {

HistoryEvent event(
    std::uint64_t client, std::uint64_t id, HistoryPhase phase, std::string f, std::string value) {
    return {
        .client = client,
        .op_id = id,
        .phase = phase,
        .f = std::move(f),
        .value = std::move(value)};
}

CheckReport check_events(const std::vector<HistoryEvent>& events) {
    const auto operations = operations_of(events);
    EXPECT_TRUE(operations) << operations.error().context;
    return check(*operations);
}

constexpr auto invoke = HistoryPhase::invoke;
constexpr auto ok = HistoryPhase::ok;
constexpr auto info = HistoryPhase::info;
constexpr auto fail = HistoryPhase::fail;

TEST(Linearizability, AStaleReadIsAViolationAndNamed) {
    const CheckReport report = check_events({
        event(1, 1, invoke, "write", "x 1"),
        event(1, 1, ok, "write", ""),
        event(2, 2, invoke, "write", "x 2"),
        event(2, 2, ok, "write", ""),
        event(3, 3, invoke, "read", "x"),
        event(3, 3, ok, "read", "1"),
    });
    EXPECT_EQ(report.verdict, Verdict::violation);
    EXPECT_EQ(report.key, "x");
    EXPECT_EQ(report.longest.size(), 2U);
    ASSERT_EQ(report.impossible.size(), 1U);
    EXPECT_EQ(report.impossible[0].id, 3U);
}

TEST(Linearizability, OverlappingOperationsMayTakeEitherOrder) {
    for (const char* seen : {"1", "2"}) {
        const CheckReport report = check_events({
            event(1, 1, invoke, "write", "x 1"),
            event(2, 2, invoke, "write", "x 2"),
            event(1, 1, ok, "write", ""),
            event(2, 2, ok, "write", ""),
            event(3, 3, invoke, "read", "x"),
            event(3, 3, ok, "read", seen),
        });
        EXPECT_EQ(report.verdict, Verdict::linearizable) << seen;
    }
}

TEST(Linearizability, AnUnknownOutcomeMayHaveHappenedLateOrNever) {
    const auto seen = [](const char* first, const char* second) {
        return check_events({
                                event(1, 1, invoke, "write", "x 1"),
                                event(1, 1, info, "write", ""),
                                event(2, 2, invoke, "read", "x"),
                                event(2, 2, ok, "read", first),
                                event(2, 3, invoke, "read", "x"),
                                event(2, 3, ok, "read", second),
                            })
            .verdict;
    };
    EXPECT_EQ(seen("", ""), Verdict::linearizable);
    EXPECT_EQ(seen("", "1"), Verdict::linearizable);
    EXPECT_EQ(seen("1", "1"), Verdict::linearizable);
    EXPECT_EQ(seen("1", ""), Verdict::violation);
}

TEST(Linearizability, WhatFailedDidNotHappen) {
    const CheckReport report = check_events({
        event(1, 1, invoke, "write", "x 1"),
        event(1, 1, fail, "write", ""),
        event(2, 2, invoke, "read", "x"),
        event(2, 2, ok, "read", "1"),
    });
    EXPECT_EQ(report.verdict, Verdict::violation);
}

TEST(Linearizability, CompareAndSetMustMeanWhatItSays) {
    const auto verdict = [](const char* old, const char* answer) {
        return check_events({
                                event(1, 1, invoke, "write", "x 1"),
                                event(1, 1, ok, "write", ""),
                                event(1, 2, invoke, "cas", std::string("x ") + old + " 5"),
                                event(1, 2, ok, "cas", answer),
                            })
            .verdict;
    };
    EXPECT_EQ(verdict("1", "true"), Verdict::linearizable);
    EXPECT_EQ(verdict("1", "false"), Verdict::violation);
    EXPECT_EQ(verdict("2", "false"), Verdict::linearizable);
    EXPECT_EQ(verdict("-", "true"), Verdict::violation);
}

TEST(Linearizability, AnEmptyHistoryProvesNothing) {
    EXPECT_EQ(check({}).verdict, Verdict::vacuous); // T8
    EXPECT_EQ(check_events({event(1, 1, invoke, "read", "x")}).verdict, Verdict::vacuous);
}

TEST(Linearizability, ACutOffSearchSaysSo) {
    std::vector<HistoryEvent> events;
    for (std::uint64_t client = 1; client <= 12; ++client)
        events.push_back(event(client, client, invoke, "write", "x " + std::to_string(client)));
    for (std::uint64_t client = 1; client <= 12; ++client)
        events.push_back(event(client, client, ok, "write", ""));
    events.push_back(event(1, 99, invoke, "read", "x"));
    events.push_back(event(1, 99, ok, "read", "77"));
    const auto operations = operations_of(events);
    ASSERT_TRUE(operations);
    EXPECT_EQ(check(*operations, {.states_max = 1000}).verdict, Verdict::budget_exhausted);
    EXPECT_EQ(check(*operations).verdict, Verdict::violation);
}

TEST(Linearizability, MalformedHistoriesAreNamed) {
    const auto error = [](std::vector<HistoryEvent> events) {
        const auto operations = operations_of(events);
        EXPECT_FALSE(operations);
        return operations ? std::string() : operations.error().context;
    };
    EXPECT_EQ(
        error({event(1, 1, ok, "read", "")}),
        "event 1: an answer to client 1 without its question");
    EXPECT_EQ(
        error({event(1, 1, invoke, "read", "x"), event(1, 2, invoke, "read", "x")}),
        "event 2: client 1 asks again without an answer");
    EXPECT_EQ(
        error({event(1, 1, invoke, "increment", "x")}), "event 1: \"increment x\" is no operation");
    EXPECT_EQ(
        error({event(1, 1, invoke, "cas", "x 1 2"), event(1, 1, ok, "cas", "maybe")}),
        "event 2: the answer of a cas is \"true\" or \"false\"");
}

/// By trying every order of every subset of the unknown ones: no search worth the name.
class BruteForce {
  public:
    explicit BruteForce(std::vector<Operation> operations) : operations_(std::move(operations)) {}
    bool linearizable() { return extend({}, 0); }

  private:
    bool extend(const std::optional<std::string>& value, std::uint64_t done) {
        bool complete = true;
        for (std::size_t i = 0; i < operations_.size(); ++i)
            complete = complete && ((done >> i & 1) != 0 || !operations_[i].answered);
        if (complete) return true;
        for (std::size_t i = 0; i < operations_.size(); ++i) {
            if ((done >> i & 1) != 0 || !may_be_next(i, done)) continue;
            std::optional<std::string> after;
            if (fits(operations_[i], value, after) && extend(after, done | std::uint64_t{1} << i))
                return true;
        }
        return false;
    }
    bool may_be_next(std::size_t index, std::uint64_t done) const {
        for (std::size_t i = 0; i < operations_.size(); ++i)
            if ((done >> i & 1) == 0 && operations_[i].end < operations_[index].begin) return false;
        return true;
    }
    static bool fits(
        const Operation& operation, const std::optional<std::string>& before,
        std::optional<std::string>& after) {
        after = before;
        if (operation.kind == OperationKind::read)
            return !operation.answered || operation.value == before;
        if (operation.kind == OperationKind::compare_and_set) {
            const bool same = before == operation.expected;
            if (same) after = operation.argument;
            return !operation.answered || operation.succeeded == same;
        }
        after = operation.kind == OperationKind::erase ? std::nullopt : operation.argument;
        return true;
    }
    std::vector<Operation> operations_;
};

std::vector<Operation> random_history(std::uint64_t seed, std::size_t count) {
    std::vector<Operation> operations;
    const auto draw = [&](std::uint64_t i, std::uint64_t n, std::uint64_t bound) {
        return promtact_choose(seed, PROMTACT_PURPOSE_WORKLOAD, i, n) % bound;
    };
    std::vector<std::uint64_t> times;
    for (std::uint64_t i = 0; i < 2 * count; ++i)
        times.push_back(i);
    for (std::uint64_t i = 2 * count; i-- > 1;)
        std::swap(times[i], times[draw(1000 + i, 0, i + 1)]);
    for (std::uint64_t i = 0; i < count; ++i) {
        Operation one{.client = i, .id = i, .key = "x"};
        one.kind = static_cast<OperationKind>(draw(i, 1, 4));
        one.begin = std::min(times[2 * i], times[2 * i + 1]);
        one.answered = draw(i, 2, 5) != 0;
        if (one.answered) one.end = std::max(times[2 * i], times[2 * i + 1]);
        const auto value = [&](std::uint64_t n) -> std::optional<std::string> {
            const std::uint64_t drawn = draw(i, n, 3);
            return drawn == 0 ? std::nullopt : std::optional(std::to_string(drawn));
        };
        one.argument = std::to_string(1 + draw(i, 3, 2));
        one.expected = value(4);
        one.value = value(5);
        one.succeeded = draw(i, 6, 2) == 0;
        operations.push_back(std::move(one));
    }
    return operations;
}

TEST(Linearizability, AgreesWithBruteForceOnSmallHistories) {
    std::size_t good = 0;
    constexpr std::size_t histories = 20'000;
    for (std::uint64_t seed = 0; seed < histories; ++seed) {
        const auto operations = random_history(seed, 2 + seed % 5);
        const Verdict verdict = check(operations, {.answered_min = 0}).verdict;
        const bool expected = BruteForce(operations).linearizable();
        ASSERT_EQ(verdict, expected ? Verdict::linearizable : Verdict::violation)
            << "seed " << seed;
        good += expected ? 1 : 0;
    }
    EXPECT_GT(good, histories / 10);
    EXPECT_LT(good, histories * 9 / 10) << "both answers must be met";
}

} // namespace
} // namespace promtact::lin
