// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>

#include <gtest/gtest.h>

#include <promtact/base/clock.hpp>

namespace promtact {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""s;

TEST(Clock, MonotonicNeverGoesBackAndSleepsAtLeastAsAsked) {
    MonotonicClock clock;
    const std::chrono::nanoseconds before = clock.now();
    clock.sleep(2ms);
    const std::chrono::nanoseconds after = clock.now();

    EXPECT_GE(after - before, 2ms);
    clock.sleep(-5ms);
    EXPECT_GE(clock.now(), after);
}

TEST(Clock, ManualMovesOnlyWhenTold) {
    ManualClock clock(5s);
    Clock& seen_as_clock = clock;

    EXPECT_EQ(seen_as_clock.now(), 5s);
    clock.advance(1500ns);
    seen_as_clock.sleep(500ns);

    EXPECT_EQ(seen_as_clock.now_ns(), 5'000'002'000U);
    EXPECT_DEATH(clock.advance(-1ns), "assertion failed");
}

struct StampRow {
    std::int64_t seconds = 0;
    std::string_view text{};
    std::string_view compact{};
};

TEST(Clock, StampsRoundTripAroundCalendarCorners) {
    constexpr std::array rows{
        StampRow{0, "1970-01-01T00:00:00Z", "19700101T000000Z"},
        StampRow{-1, "1969-12-31T23:59:59Z", "19691231T235959Z"},
        StampRow{951'827'696, "2000-02-29T12:34:56Z", "20000229T123456Z"},
        StampRow{4'107'542'399, "2100-02-28T23:59:59Z", "21000228T235959Z"},
        StampRow{4'107'542'400, "2100-03-01T00:00:00Z", "21000301T000000Z"},
        StampRow{1'795'985'300, "2026-11-29T20:48:20Z", "20261129T204820Z"},
        StampRow{253'402'300'799, "9999-12-31T23:59:59Z", "99991231T235959Z"},
        StampRow{-62'167'219'200, "0000-01-01T00:00:00Z", "00000101T000000Z"},
    };
    for (const StampRow& row : rows) {
        EXPECT_EQ(format_utc(row.seconds), row.text);
        EXPECT_EQ(format_utc_compact(row.seconds), row.compact);
        EXPECT_EQ(*parse_utc(row.text), row.seconds);
        EXPECT_EQ(*parse_utc(row.compact), row.seconds);
    }
}

TEST(Clock, StampsOfOtherShapesAndImpossibleDatesAreRefused) {
    for (const std::string_view text :
         {"", "2026-11-29", "2026-11-29 20:48:20Z", "2026-11-29T20:48:20", "2026-11-29T20:48:20z",
          "2026-11-29T20:48:20+00:00", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
          "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
          "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "20261129T204820",
          "2026-11-2aT20:48:20Z"})
        EXPECT_FALSE(parse_utc(text)) << text;
}

TEST(Clock, WallClockIsWithinThisCentury) {
    EXPECT_GT(unix_seconds_now(), *parse_utc("2024-01-01T00:00:00Z"));
    EXPECT_LT(unix_seconds_now(), *parse_utc("2100-01-01T00:00:00Z"));
}

} // namespace
} // namespace promtact
