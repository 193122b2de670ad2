// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One binary, many names: which command the words of a process ask for.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <promtact/harness/command.hpp>

namespace promtact::harness {

/// A binary and what it can do.
struct Program {
    std::string_view name{};
    std::span<const Command> commands{}; // sorted by name
};

/// The text of `promtact help`.
std::string usage(const Program& program);

/// Runs the command named by argv[0] (a link such as promtact-probe) or else by the first word.
/// Returns the exit code of the process: 2 for no or an unknown command and
/// for an environment variable that is refused, 1 when a command
/// succeeded but its output could not be written.
int run_umbrella(std::span<const std::string> argv, const Program& program);

} // namespace promtact::harness
