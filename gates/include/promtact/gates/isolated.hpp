// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A gate body in a process of its own: it may crash, hang or leak, and the campaign goes on and
// says so.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/gates/gate.hpp>
#include <promtact/gates/record.hpp>

namespace promtact::gates {

struct IsolatedRun {
    const GateEntry* entry = nullptr;
    const GateOptions* options = nullptr;
    bool sabotaged = false;
    std::chrono::nanoseconds budget{}; // then the child is killed
    /// Live progress, called in the parent.
    std::function<void(std::string_view)> on_step{};
    /// Called first in the child, to let go of what only the parent owns.
    std::function<void()> in_child{};
    /// Asked whenever a signal arrived: true ends the child and the run (Errc::cancelled).
    std::function<bool()> stop{};
};

/// Forks, runs the body once and returns what it answered. A crash, a silent exit and an overrun
/// budget become an answer with verdict error and the reason; the child's whole process group is
/// gone afterwards. The child dies with its parent (PR_SET_PDEATHSIG), has no stdin, and its
/// stdout is stderr. Requires: the calling thread is the process's main thread of life.
/// Errors: cancelled when stop() said so; system when no process could be made.
Result<GateOutcome> run_isolated(const IsolatedRun& run);

} // namespace promtact::gates
