// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/sim/twin.hpp>

#include "plain_heap.hpp"
#include "testing/chatter.hpp"

namespace promtact::sim {
namespace {

using testing::chatter;
using ::testing::HasSubstr;
using testing::quiet;

constexpr const char* no_plain_heap =
    "the sanitizer's allocator neither uses freed memory again nor leaves it as it was";

Case noisy() {
    Case run{.scenario = quiet()};
    run.scenario.drop = Ppm(100'000);
    run.scenario.max_delay = {4};
    return run;
}

TEST(Twin, ADeterministicProtocolIsTheSameTwice) {
    const TwinReport twins = run_twice(chatter(), noisy());
    EXPECT_FALSE(twins.divergence);
    EXPECT_EQ(twins.report.verdict, engine::Verdict::pass) << twins.report.text;
    EXPECT_EQ(twins.report.end.trace, run_case(chatter(), noisy()).end.trace);
}

// T5, T6 and the wall clock: three of three, each at the event where it began.
TEST(Twin, T5OrderByAddressIsFoundAtItsEvent) {
    if (!plain_heap) GTEST_SKIP() << no_plain_heap;
    const TwinReport twins = run_twice(chatter({.by_address = true}), {.scenario = quiet()});
    ASSERT_TRUE(twins.divergence);
    EXPECT_EQ(twins.divergence->step, Step(30));
    EXPECT_EQ(twins.report.verdict, engine::Verdict::error);
    EXPECT_THAT(twins.report.text, HasSubstr("number 30"));
}

TEST(Twin, T6AByteThatWasNeverWrittenIsFoundAtItsEvent) {
    if (!plain_heap) GTEST_SKIP() << no_plain_heap;
    const TwinReport twins = run_twice(chatter({.unwritten = true}), {.scenario = quiet()});
    ASSERT_TRUE(twins.divergence);
    EXPECT_EQ(twins.divergence->step, Step(30));
    ASSERT_TRUE(twins.divergence->first);
    EXPECT_EQ(twins.divergence->first->event.from, NodeId(1));
}

TEST(Twin, TheWallClockIsFoundAtItsEvent) {
    const TwinReport twins = run_twice(chatter({.wall_clock = true}), {.scenario = quiet()});
    ASSERT_TRUE(twins.divergence);
    EXPECT_EQ(twins.divergence->step, Step(30));
}

TEST(Twin, WhatThrowsIsAnErrorOfTheProtocol) {
    const RunReport report = run_case(chatter({.throws = true}), {.scenario = quiet()});
    EXPECT_EQ(report.verdict, engine::Verdict::error);
    EXPECT_THAT(report.text, HasSubstr("stoul"));
    EXPECT_EQ(report.end.step, Step(20));
}

} // namespace
} // namespace promtact::sim
