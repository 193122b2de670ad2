// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whether a history could have come from one store that does one operation at a time.
// Sources: Wing and Gong, Testing and Verifying Concurrent Objects (1993); Lowe, Testing for
// Linearizability (2017): the search remembers (operations done, state); a history is judged key by
// key (Herlihy and Wing 1990, locality).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/lin/history.hpp>

namespace promtact::lin {

enum class Verdict : std::uint8_t {
    linearizable,
    violation,
    vacuous,          // too few operations were answered to mean anything
    budget_exhausted, // the search was cut off: nothing is known
};
std::string_view to_string(Verdict verdict) noexcept;

struct CheckOptions {
    std::uint64_t states_max = 10'000'000; // visited over all keys
    std::size_t answered_min = 1;          // below, the history is vacuous
};

struct CheckReport {
    Verdict verdict = Verdict::linearizable;
    std::string key{};                // of the violation, or of what could not be finished
    std::string text{};               // in words
    std::vector<Operation> longest{}; // of that key: the longest order that fits, as far as it goes
    std::vector<Operation>
        impossible{};           // and the operations that could come next, none of which fits
    std::uint64_t states = 0;   // visited
    std::size_t operations = 0; // judged
};

CheckReport check(std::span<const Operation> operations, const CheckOptions& options = {});

} // namespace promtact::lin
