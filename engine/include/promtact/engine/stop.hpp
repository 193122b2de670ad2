// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <promtact/engine/invariant.hpp>

namespace promtact::engine {

/// How a run ended. The words are those of every command.
enum class Verdict : std::uint8_t {
    pass,
    fail,             // a property was broken
    vacuous,          // nothing was broken, but a fault never struck or a goal was not reached
    stuck,            // a step that does not end, or a bound on progress was not kept
    invalid,          // the plan asks for what the cluster cannot do
    budget_exhausted, // a limit of states, time or memory came first
    error,            // the adapter is wrong: unknown node, exception, not deterministic
};

inline constexpr std::array all_verdicts{Verdict::pass,    Verdict::fail,
                                         Verdict::vacuous, Verdict::stuck,
                                         Verdict::invalid, Verdict::budget_exhausted,
                                         Verdict::error};

constexpr std::string_view to_string(Verdict verdict) noexcept {
    constexpr std::array<std::string_view, all_verdicts.size()> names{
        "pass", "fail", "vacuous", "stuck", "invalid", "budget_exhausted", "error"};
    return names[static_cast<std::size_t>(verdict)];
}

/// Why a run does not go on.
struct Stop {
    Verdict verdict = Verdict::error;
    std::string text{};
    RunPlace place{};
    std::optional<Violation> violation{}; // of fail, and of stuck when a bound was not kept
};

} // namespace promtact::engine
