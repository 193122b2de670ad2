// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <memory>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/engine/schedule.hpp>

namespace promtact::engine {
namespace {

using Number = std::uint64_t;

InFlight<Number> entry(std::uint64_t due, std::uint64_t sequence, std::uint32_t to = 1) {
    return {
        .message = sequence,
        .due = Step(due),
        .sequence = sequence,
        .number = sequence,
        .from = NodeId(9),
        .to = NodeId(to)};
}

/// What comes out from now to `until`, as (due, sequence).
std::vector<std::pair<std::uint64_t, std::uint64_t>>
drain(Schedule<Number>& schedule, std::uint64_t from, std::uint64_t until) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
    for (std::uint64_t now = from; now <= until; ++now) {
        schedule.advance(Step(now));
        while (schedule.due()) {
            const auto popped = schedule.pop();
            EXPECT_EQ(popped.due, Step(now));
            order.emplace_back(popped.due.value(), popped.sequence);
        }
    }
    return order;
}

// The order of lists and heap together is that of one sorted list, for delays on both sides of the
// horizon, while time goes on.
TEST(Schedule, GivesTheOrderOfDueAndSequence) {
    for (const std::uint64_t range : {1U, 4U, 64U, 255U, 256U, 257U, 1000U, 5000U}) {
        Schedule<Number> schedule;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
        std::uint64_t sequence = 0;
        for (std::uint64_t now = 1; now <= 2000; ++now) {
            schedule.advance(Step(now));
            for (std::uint64_t i = 0; i < 3 && now <= 1000; ++i) {
                const std::uint64_t due = now + promtact_choose(range, 260, now, i) % range;
                schedule.push(entry(due, ++sequence));
                expected.emplace_back(due, sequence);
            }
            while (schedule.due())
                order.emplace_back(now, schedule.pop().sequence);
        }
        const auto rest = drain(schedule, 2001, 7000);
        order.insert(order.end(), rest.begin(), rest.end());
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(order, expected) << "range " << range;
        EXPECT_EQ(schedule.size(), 0U);
    }
}

TEST(Schedule, WhatWasNotTakenStaysDueBeforeWhatIsDueNow) {
    Schedule<Number> schedule;
    schedule.advance(Step(1));
    schedule.push(entry(2, 1));
    schedule.push(entry(1, 2)); // after the step's deliveries: nobody takes it
    schedule.push(entry(1, 3));
    schedule.advance(Step(2));
    schedule.push(entry(2, 4));
    std::vector<std::uint64_t> order;
    while (schedule.due())
        order.push_back(schedule.pop().sequence);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 3, 1, 4}));
    schedule.push(entry(2, 5));
    schedule.advance(Step(3));
    schedule.advance(Step(4));
    ASSERT_TRUE(schedule.due());
    EXPECT_EQ(schedule.pop().sequence, 5U);
    EXPECT_EQ(schedule.size(), 0U);
}

TEST(Schedule, RemovalKeepsTheOrderOfTheRest) {
    Schedule<Number> schedule;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
    for (std::uint64_t sequence = 1; sequence <= 500; ++sequence) {
        const std::uint64_t due = 1 + promtact_choose(1, 260, sequence, 0) % 900;
        const auto to = static_cast<std::uint32_t>(1 + sequence % 3);
        schedule.push(entry(due, sequence, to));
        if (to != 2) expected.emplace_back(due, sequence);
    }
    std::sort(expected.begin(), expected.end());
    std::vector<std::pair<Step, std::uint64_t>> told;
    const std::size_t gone = schedule.remove_if(
        [](const auto& one) { return one.to == NodeId(2); },
        [&](const auto& one) { told.emplace_back(one.due, one.sequence); });
    EXPECT_EQ(gone, 500 - expected.size());
    EXPECT_EQ(told.size(), gone);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(schedule.size(), expected.size());
    EXPECT_EQ(drain(schedule, 1, 1000), expected);
}

TEST(Schedule, LetsGoOfAMessageWhenItIsPopped) {
    Schedule<std::shared_ptr<int>> schedule;
    const auto message = std::make_shared<int>(7);
    schedule.push({.message = message, .due = Step(1), .sequence = 1});
    schedule.advance(Step(1));
    EXPECT_EQ(message.use_count(), 2);
    static_cast<void>(schedule.pop());
    EXPECT_EQ(message.use_count(), 1);
}

} // namespace
} // namespace promtact::engine
