// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cstdint>

#include <promtact/base/assert.hpp>
#include <promtact/base/fault.hpp>

namespace promtact::engine {

/// Longest delay of anything: far beyond every run, and sums of a few stay below 2^64.
inline constexpr std::uint64_t steps_max = std::uint64_t{1} << 43;

/// A duration in steps; wall time is rounded to the nearest. Requires: tick_ns > 0 for wall time
inline std::uint64_t in_steps(const FaultDuration& duration, std::uint64_t tick_ns) noexcept {
    if (duration.unit == FaultDuration::Unit::steps)
        return duration.count < steps_max ? duration.count : steps_max;
    PROMTACT_ASSERT(tick_ns > 0);
    const std::uint64_t whole = duration.count / tick_ns;
    const std::uint64_t steps = whole + (duration.count % tick_ns >= (tick_ns + 1) / 2 ? 1 : 0);
    return steps < steps_max ? steps : steps_max;
}

} // namespace promtact::engine
