// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <ctime>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>

namespace promtact {
namespace {

constexpr std::int64_t seconds_per_day = 86'400;
constexpr std::int64_t year_9999_end = 253'402'300'799; // 9999-12-31T23:59:59Z
constexpr std::int64_t year_0_start = -62'167'219'200;  // 0000-01-01T00:00:00Z

struct Civil {
    std::int64_t year = 0;
    unsigned month = 1;
    unsigned day = 1;
    std::int64_t second_of_day = 0;
};

Civil civil_from(std::int64_t unix_seconds) {
    PROMTACT_ASSERT(unix_seconds >= year_0_start);
    PROMTACT_ASSERT(unix_seconds <= year_9999_end);
    std::int64_t days = unix_seconds / seconds_per_day;
    std::int64_t rest = unix_seconds % seconds_per_day;
    if (rest < 0) {
        rest += seconds_per_day;
        --days;
    }
    const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
    return {
        .year = static_cast<int>(date.year()),
        .month = static_cast<unsigned>(date.month()),
        .day = static_cast<unsigned>(date.day()),
        .second_of_day = rest};
}

std::string padded(std::int64_t value, std::size_t width) {
    std::string text = std::to_string(value);
    PROMTACT_ASSERT(text.size() <= width);
    return std::string(width - text.size(), '0') + text;
}

std::string format(
    std::int64_t unix_seconds, std::string_view date_separator, std::string_view time_separator) {
    const Civil at = civil_from(unix_seconds);
    const std::string dash(date_separator);
    const std::string colon(time_separator);
    return padded(at.year, 4) + dash + padded(at.month, 2) + dash + padded(at.day, 2) + "T" +
           padded(at.second_of_day / 3600, 2) + colon + padded(at.second_of_day / 60 % 60, 2) +
           colon + padded(at.second_of_day % 60, 2) + "Z";
}

/// Reads the digits where pattern has 'd', and demands equality elsewhere.
bool matches(std::string_view text, std::string_view pattern) {
    if (text.size() != pattern.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (pattern[i] == 'd' ? !digit : text[i] != pattern[i]) return false;
    }
    return true;
}

} // namespace

std::chrono::nanoseconds MonotonicClock::now() const noexcept {
    timespec at{};
    PROMTACT_ASSERT(::clock_gettime(CLOCK_MONOTONIC, &at) == 0);
    return std::chrono::seconds{at.tv_sec} + std::chrono::nanoseconds{at.tv_nsec};
}

void MonotonicClock::sleep(std::chrono::nanoseconds duration) noexcept {
    if (duration.count() <= 0) return;
    const std::chrono::nanoseconds until = now() + duration;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(until);
    timespec at{};
    at.tv_sec = seconds.count();
    at.tv_nsec = (until - seconds).count();
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
    }
}

ManualClock::ManualClock(std::chrono::nanoseconds start) noexcept : now_(start) {
    PROMTACT_ASSERT(start.count() >= 0);
}

void ManualClock::advance(std::chrono::nanoseconds duration) noexcept {
    PROMTACT_ASSERT(duration.count() >= 0);
    now_ += duration;
}

std::int64_t unix_seconds_now() noexcept {
    timespec at{};
    PROMTACT_ASSERT(::clock_gettime(CLOCK_REALTIME, &at) == 0);
    return at.tv_sec;
}

std::string format_utc(std::int64_t unix_seconds) {
    return format(unix_seconds, "-", ":");
}

std::string format_utc_compact(std::int64_t unix_seconds) {
    return format(unix_seconds, "", "");
}

Result<std::int64_t> parse_utc(std::string_view text) {
    if (!matches(text, "dddd-dd-ddTdd:dd:ddZ") && !matches(text, "ddddddddTddddddZ")) {
        return Error{
            Errc::invalid_argument, 0,
            "time stamp \"" + std::string(text.substr(0, 40)) +
                "\" is not of the form 2026-11-29T20:48:20Z"};
    }
    std::array<int, 14> digit{};
    std::size_t count = 0;
    for (const char c : text)
        if (c >= '0' && c <= '9') digit.at(count++) = c - '0';
    PROMTACT_ASSERT(count == digit.size());
    const auto two = [&digit](std::size_t at) { return digit[at] * 10 + digit[at + 1]; };
    const std::chrono::year_month_day date{
        std::chrono::year{two(0) * 100 + two(2)}, std::chrono::month{static_cast<unsigned>(two(4))},
        std::chrono::day{static_cast<unsigned>(two(6))}};
    if (!date.ok() || two(8) > 23 || two(10) > 59 || two(12) > 59) {
        return Error{
            Errc::invalid_argument, 0, "time stamp \"" + std::string(text) + "\" does not exist"};
    }
    const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
    return days * seconds_per_day + two(8) * 3600 + two(10) * 60 + two(12);
}

} // namespace promtact
