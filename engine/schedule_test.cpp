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
            const auto taken = schedule.take();
            EXPECT_EQ(taken->due, Step(now));
            order.emplace_back(taken->due.value(), taken->sequence);
        }
    }
    return order;
}

// The order of wheel and heap together is that of one sorted list, for delays within a block of
// steps and over several, up to the horizon and behind it, while time goes on.
TEST(Schedule, GivesTheOrderOfDueAndSequence) {
    using Wheel = Schedule<Number>;
    constexpr std::uint64_t last = 1000;
    for (const std::uint64_t range :
         {std::uint64_t{1}, std::uint64_t{4}, Wheel::block - 1, Wheel::block, Wheel::block + 1,
          2 * Wheel::block, 3 * Wheel::block + 1, std::uint64_t{5000}, Wheel::horizon,
          Wheel::horizon + 3 * Wheel::block, 3 * Wheel::horizon}) {
        Schedule<Number> schedule;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
        std::uint64_t sequence = 0;
        for (std::uint64_t now = 1; now <= last + 5; ++now) {
            schedule.advance(Step(now));
            for (std::uint64_t i = 0; i < 3 && now <= last; ++i) {
                const std::uint64_t due = now + promtact_choose(range, 260, now, i) % range;
                schedule.push(entry(due, ++sequence));
                expected.emplace_back(due, sequence);
            }
            while (schedule.due())
                order.emplace_back(now, schedule.take()->sequence);
        }
        const auto rest = drain(schedule, last + 6, last + range);
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
        order.push_back(schedule.take()->sequence);
    EXPECT_EQ(order, (std::vector<std::uint64_t>{2, 3, 1, 4}));
    schedule.push(entry(2, 5));
    schedule.advance(Step(3));
    schedule.advance(Step(4));
    ASSERT_TRUE(schedule.due());
    EXPECT_EQ(schedule.take()->sequence, 5U);
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

// What is delivered stays where it is, though its delivery pushes more than there was room for.
TEST(Schedule, WhatWasTakenStaysWhereItLies) {
    Schedule<std::vector<int>> schedule;
    schedule.push({.message = {1, 2, 3}, .due = Step(0), .sequence = 1});
    {
        const auto taken = schedule.take();
        const std::vector<int>* const before = &taken->message;
        for (std::uint64_t sequence = 2; sequence <= 10'000; ++sequence)
            schedule.push({.message = {4}, .due = Step(0), .sequence = sequence});
        EXPECT_EQ(&taken->message, before);
        EXPECT_EQ(taken->message, (std::vector<int>{1, 2, 3}));
    }
    EXPECT_EQ(schedule.size(), 9'999U);
}

TEST(Schedule, LetsGoOfAMessageWhenItIsPopped) {
    Schedule<std::shared_ptr<int>> schedule;
    const auto message = std::make_shared<int>(7);
    schedule.push({.message = message, .due = Step(1), .sequence = 1});
    schedule.advance(Step(1));
    EXPECT_EQ(message.use_count(), 2);
    static_cast<void>(schedule.take());
    EXPECT_EQ(message.use_count(), 1);
}

} // namespace
} // namespace promtact::engine
