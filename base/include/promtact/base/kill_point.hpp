// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Points at which a test may kill this process, to prove that nothing is left behind.
#pragma once

#include <cstdint>

namespace promtact {

/// Counts one point; raises SIGKILL on the process when the armed number is reached. Free when not
/// armed. Units call it between steps that create or change something outside the process (a
/// namespace, a link, a loop device, a file). Armed from the environment variable
/// PROMTACT_KILL_AT=<n> (1 = the first point passed), read once.
void kill_point() noexcept;

/// Points passed so far by this process (and, after fork, by the child on top of the parent's).
std::uint64_t kill_points_passed() noexcept;

/// Arms the n-th point counted from now; 0 disarms. For tests that fork.
void arm_kill_point(std::uint64_t n) noexcept;

} // namespace promtact
