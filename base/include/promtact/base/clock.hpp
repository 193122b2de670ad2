// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Time is passed in. Pure units take a number; everything else takes a Clock, so that a test can
// hold it still.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>

namespace promtact {

/// A clock that never goes back. Its zero has no meaning outside the process.
class Clock {
  public:
    Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    virtual ~Clock() = default;

    [[nodiscard]] virtual std::chrono::nanoseconds now() const noexcept = 0;
    /// Returns at or after now() + duration.
    virtual void sleep(std::chrono::nanoseconds duration) noexcept = 0;

    /// Units: nanoseconds, for histograms.
    [[nodiscard]] std::uint64_t now_ns() const noexcept {
        return static_cast<std::uint64_t>(now().count());
    }
};

/// CLOCK_MONOTONIC.
class MonotonicClock final : public Clock {
  public:
    [[nodiscard]] std::chrono::nanoseconds now() const noexcept override;
    void sleep(std::chrono::nanoseconds duration) noexcept override;
};

/// Moves only when told to; sleep() advances it.
class ManualClock final : public Clock {
  public:
    explicit ManualClock(std::chrono::nanoseconds start = {}) noexcept;

    [[nodiscard]] std::chrono::nanoseconds now() const noexcept override { return now_; }
    void sleep(std::chrono::nanoseconds duration) noexcept override { advance(duration); }
    /// Requires: duration >= 0
    void advance(std::chrono::nanoseconds duration) noexcept;

  private:
    std::chrono::nanoseconds now_;
};

/// Seconds since 1970-01-01T00:00:00Z by the host's wall clock. For stamps only: it may jump.
std::int64_t unix_seconds_now() noexcept;

/// "2026-11-29T20:48:20Z". Requires: a year in 0 .. 9999
std::string format_utc(std::int64_t unix_seconds);

/// "20261129T204820Z", safe in file names; sorts by time. Requires: a year in 0 .. 9999
std::string format_utc_compact(std::int64_t unix_seconds);

/// Reads what the two above write, and nothing else.
/// Errors: invalid_argument, with the text and what is expected.
Result<std::int64_t> parse_utc(std::string_view text);

} // namespace promtact
