// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Judging round-trip times of the link_delay gate, apart from measuring them.
#pragma once

#include <cstdint>
#include <string>

#include <promtact/base/histogram.hpp>

namespace promtact::gates::link_delay {

/// Round trips of one measurement; an unanswered probe is lost.
struct RoundTrips {
    Histogram latency_ns{};
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
};

struct Measured {
    RoundTrips before{};
    RoundTrips delayed{};       // on the delayed link
    RoundTrips beside{};        // on the other link meanwhile
    RoundTrips after{};         // on the link again without delay
    std::uint64_t delay_ns = 0; // configured, one way
};

/// What the fastest tenth of the round trips may exceed the configured delay by: timers, two system
/// calls. The slower ones say more about a busy host than about the link; they are recorded.
inline constexpr std::uint64_t tolerance_ns = 5'000'000;
inline constexpr std::uint32_t fastest_ppm = 100'000;

/// What does not agree, in words; empty when the delay is what was asked for.
std::string judge(const Measured& measured);

} // namespace promtact::gates::link_delay
