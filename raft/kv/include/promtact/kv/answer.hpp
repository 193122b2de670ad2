// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the state machine says to a command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace promtact::kv {

enum class Status : std::uint8_t {
    ok = 0,
    mismatch = 1, // compare_and_set: the key holds something else, which is in the answer

    // Nothing was done, and nothing is remembered of it.
    invalid = 2,         // no command; it was refused alike by every member
    session_expired = 3, // forgotten, closed or never opened: whether an earlier try was done is
                         // not known any more
    stale_request = 4,   // the client has said before that it had this answer
    too_many = 5,        // more answers would have to be kept than the limits allow
};

/// "ok", "mismatch", …
std::string_view to_string(Status status) noexcept;

struct Answer {
    Status status = Status::ok;
    bool found = false;        // the key was there before
    bool duplicate = false;    // done before, this is the answer given then
    std::uint64_t session = 0; // open_session: the new id
    std::string value{};       // remove: what was there; mismatch: what is there

    friend bool operator==(const Answer&, const Answer&) = default;
};

} // namespace promtact::kv
