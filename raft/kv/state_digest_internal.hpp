// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What is hashed of the state, in one place for the machine, its snapshots and their loading.
#pragma once

#include <string_view>

#include <promtact/base/bytes.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/kv/limits.hpp>

namespace promtact::kv {

/// Of one key and its value.
inline Digest128 value_digest(std::string_view key, std::string_view value) noexcept {
    TraceHash hash;
    hash.add(bytes_of(key));
    hash.add(bytes_of(value));
    return hash.value();
}

/// Of a whole state, from the sums of its parts.
inline Digest128 state_digest(
    const Limits& limits, LogTime now, const Digest128& values,
    const Digest128& sessions) noexcept {
    TraceHash hash;
    hash.add<9>(
        {{limits.sessions_max, limits.outstanding_max, limits.answer_bytes_max,
          limits.session_timeout, now, values.high, values.low, sessions.high, sessions.low}});
    return hash.value();
}

} // namespace promtact::kv
