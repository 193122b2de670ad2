// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A command of the umbrella binary. Every command is one line of the table in harness/promtact.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace promtact::harness {

struct Command {
    std::string_view name{};    // "gates"
    std::string_view summary{}; // shown by `promtact help`
    std::string_view
        link{}; // other name the binary answers to by argv[0], for example "promtact-probe"
    /// Runs with the words after the command's name; returns the process exit code.
    std::function<int(std::span<const std::string> arguments)> run{};
};

/// The commands this build offers, sorted by name. A command the build cannot run is absent.
std::span<const Command> commands();

/// The commands, one function each, in harness/commands/<name>.cpp.
int run_bench(std::span<const std::string> arguments);
int run_evidence(std::span<const std::string> arguments);
int run_wal(std::span<const std::string> arguments);
int run_gates(std::span<const std::string> arguments);
int run_probe(std::span<const std::string> arguments);
int run_raw_bench(std::span<const std::string> arguments);
int run_uring_bench(std::span<const std::string> arguments);
int run_version(std::span<const std::string> arguments);

} // namespace promtact::harness
