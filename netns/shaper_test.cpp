// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/netns/shaper.hpp>

namespace promtact::netns {
namespace {

using namespace std::chrono_literals;

TEST(Shape, TakesEveryValueInsideItsBoundsZeroIncluded) {
    EXPECT_TRUE(check(Shape{}));
    EXPECT_TRUE(check({.delay = 60s, .jitter = 60s, .loss_ppm = 1'000'000, .limit_packets = 1}));
    EXPECT_TRUE(check({.delay = 1ns, .jitter = 0ns, .loss_ppm = 1, .limit_packets = ~0U}));
}

TEST(Shape, RefusesEveryFieldOutsideItsBoundsAndNamesIt) {
    struct Row {
        std::string_view field;
        Shape shape;
    };
    for (const Row& row :
         {Row{"delay", {.delay = -1ns}}, Row{"delay", {.delay = 60s + 1ns}},
          Row{"jitter", {.delay = 5ms, .jitter = 6ms}},
          Row{"jitter", {.delay = 5ms, .jitter = -1ns}}, Row{"loss", {.loss_ppm = 1'000'001}},
          Row{"limit", {.limit_packets = 0}}}) {
        const auto checked = check(row.shape);
        ASSERT_FALSE(checked) << row.field;
        EXPECT_EQ(checked.error().code, Errc::invalid_argument);
        EXPECT_NE(checked.error().context.find(row.field), std::string::npos);
    }
}

} // namespace
} // namespace promtact::netns
