// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The bounds that decide what the state machine forgets. They are part of the replicated state:
// members with different bounds would forget different sessions, and so answer differently.
#pragma once

#include <cstdint>

#include <promtact/base/result.hpp>

namespace promtact::kv {

/// The time that commands carry, in whatever unit the cluster's leaders agree on (the service uses
/// microseconds, a simulation its steps). The state machine has no other clock.
using LogTime = std::uint64_t;

struct Limits {
    std::uint64_t sessions_max = 4096;             // the least recently used one makes room
    std::uint64_t outstanding_max = 64;            // answers kept for one session
    std::uint64_t answer_bytes_max = 64ULL << 20;  // of all answers kept; sessions make room
    std::uint64_t session_timeout = 3'600'000'000; // in LogTime since its last command; 0: never

    friend bool operator==(const Limits&, const Limits&) = default;
};

inline constexpr std::uint64_t sessions_limit = std::uint64_t{1} << 20;
inline constexpr std::uint64_t outstanding_limit = 1024;

/// Errors: invalid_argument unless sessions_max is in [1, sessions_limit] and outstanding_max in
/// [1, outstanding_limit]
Result<void> validate(const Limits& limits);

} // namespace promtact::kv
