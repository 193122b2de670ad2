// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Makes a failing run small while the same property fails in the same way.
#pragma once

#include <cstdint>
#include <functional>

#include <promtact/sim/recording.hpp>

namespace promtact::sim {

/// How large a case is, in each of the ways in which it is made smaller.
struct CaseSize {
    std::size_t faults = 0;
    std::size_t commands = 0; // of clients
    std::size_t restarts = 0;
    std::uint32_t nodes = 0;
    std::uint64_t steps = 0;
    std::size_t fates = 0; // messages that were lost, delayed, copied or damaged
    /// What there is to understand: everything but nodes and steps.
    [[nodiscard]] std::size_t weight() const noexcept {
        return faults + commands + restarts + fates;
    }
    friend bool operator==(const CaseSize&, const CaseSize&) = default;
};

/// Whether two runs broke the same property in the same way: verdict, property and key; for an
/// error of the protocol its text.
bool same_failure(const Outcome& a, const Outcome& b);

struct ShrinkOptions {
    std::uint64_t runs_max = 20'000;
    /// Told after every run that made it smaller.
    std::function<void(std::uint64_t runs, const CaseSize& size)> progress{};
    /// Asked before every run; true ends it with what is the smallest so far.
    std::function<bool()> give_up{};
};

struct ShrinkReport {
    Recording small{};
    CaseSize before{};
    CaseSize after{};
    std::uint64_t runs = 0;
    bool finished = true; // false: runs_max or give_up came first
};

/// Requires: the case fails or is stuck or in error
ShrinkReport
shrink(const Protocol& protocol, const Case& failing, const ShrinkOptions& options = {});

} // namespace promtact::sim
