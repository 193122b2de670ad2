// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <limits>

#include <gtest/gtest.h>

#include <promtact/base/choice.h>
#include <promtact/base/durations.hpp>

namespace promtact {
namespace {

struct DurationRow {
    std::string_view text{};
    std::int64_t ns = -1; // -1: refused
};

TEST(Durations, InEveryUnitAndNothingElse) {
    constexpr std::array rows{
        DurationRow{"25ms", 25'000'000},
        DurationRow{"1m", 60'000'000'000},
        DurationRow{"1m30s", 90'000'000'000},
        DurationRow{"1h2m3s4ms5us6ns", 3'723'004'005'006},
        DurationRow{"300us", 300'000},
        DurationRow{"300µs", 300'000},
        DurationRow{"300μs", 300'000},
        DurationRow{"0", 0},
        DurationRow{"0s", 0},
        DurationRow{" 5s ", 5'000'000'000},
        DurationRow{"9223372036854775807ns", std::numeric_limits<std::int64_t>::max()},
        DurationRow{"9223372036854775808ns"},
        DurationRow{"9223372036s1s"},
        DurationRow{"2562048h"},
        DurationRow{""},
        DurationRow{"5"},
        DurationRow{"ms"},
        DurationRow{"1.5s"},
        DurationRow{".5s"},
        DurationRow{"-5s"},
        DurationRow{"5 s"},
        DurationRow{"5sec"},
        DurationRow{"5S"},
        DurationRow{"1s30"},
        DurationRow{"1_000ms"},
    };
    for (const DurationRow& row : rows) {
        const Result<std::chrono::nanoseconds> duration = parse_duration(row.text);
        EXPECT_EQ(duration.has_value(), row.ns >= 0) << row.text;
        if (duration) {
            EXPECT_EQ(duration->count(), row.ns) << row.text;
        }
    }
    EXPECT_NE(parse_duration("1.5s").error().context.find("1500ms"), std::string::npos);
}

TEST(Durations, RoundTripExactlyInOneUnit) {
    using namespace std::chrono_literals;
    EXPECT_EQ(format_duration(25ms), "25ms");
    EXPECT_EQ(format_duration(90s), "90s");
    EXPECT_EQ(format_duration(120s), "2m");
    EXPECT_EQ(format_duration(1500us), "1500us");
    EXPECT_EQ(format_duration(0ns), "0ns");
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::chrono::nanoseconds duration{
            static_cast<std::int64_t>(promtact_mix64(i) >> (1 + i % 63))};
        EXPECT_EQ(*parse_duration(format_duration(duration)), duration);
    }
}

} // namespace
} // namespace promtact
