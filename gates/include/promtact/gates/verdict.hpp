// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The words a gate may answer with, and nothing else (shared by every command).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace promtact::gates {

enum class Verdict : std::uint8_t {
    pass,        // asked and answered yes; the negative control failed as it must
    fail,        // asked and answered no
    unsupported, // the host lacks something, named in the reason
    denied,      // a privilege is missing, named in the reason
    blocked,     // a required gate did not pass
    error,       // the gate broke, overran its budget, or its control did not fail
};

constexpr std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::pass:
        return "pass";
    case Verdict::fail:
        return "fail";
    case Verdict::unsupported:
        return "unsupported";
    case Verdict::denied:
        return "denied";
    case Verdict::blocked:
        return "blocked";
    case Verdict::error:
        return "error";
    }
    return "error";
}

constexpr std::optional<Verdict> verdict_from(std::string_view text) noexcept {
    for (const Verdict v :
         {Verdict::pass, Verdict::fail, Verdict::unsupported, Verdict::denied, Verdict::blocked,
          Verdict::error})
        if (to_string(v) == text) return v;
    return std::nullopt;
}

/// Grey: not asked, or not answerable here. Never shown as green.
constexpr bool is_grey(Verdict verdict) noexcept {
    return verdict == Verdict::unsupported || verdict == Verdict::denied ||
           verdict == Verdict::blocked;
}

/// DESIGN exit codes: 0 pass, 1 fail or gate error, 77 grey.
constexpr int exit_code(Verdict verdict) noexcept {
    if (verdict == Verdict::pass) return 0;
    return is_grey(verdict) ? 77 : 1;
}

} // namespace promtact::gates
