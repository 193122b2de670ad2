// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the commands share: which protocol, which scenario, and how errors are told.
#pragma once

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/harness/flags.hpp>
#include <promtact/sim/recording.hpp>
#include <promtact/sim/sim_main.hpp>

#include "report_internal.hpp"

namespace promtact::sim {

inline constexpr int exit_usage = 2;
inline constexpr std::string_view verdict_exits =
    "  0  pass\n  1  fail, vacuous, stuck or error\n  2  usage or a bad file\n"
    "  5  invalid or budget_exhausted\n";

/// Prints "PROGRAM: text" on stderr; returns the exit code of bad usage.
int refuse(const Tool& tool, const std::string& text);
int refuse(const Tool& tool, const Error& error);

/// The program as a shell finds it from here.
std::string called(const Tool& tool);

/// Examples, one line each without the program's name, and exit codes.
std::string
footer(const Tool& tool, const std::vector<std::string>& examples, std::string_view exits);

/// --protocol, where there is a choice.
void add_protocol_flag(harness::FlagSet& flags, const Tool& tool, std::string& name);
/// nullptr when this program does not know it.
const Protocol* find_protocol(const Tool& tool, const std::string& name);

/// What of the case the protocol cannot do, one problem a line with its place in the file.
std::string problems_text(const Protocol& protocol, const Case& run, const std::string& path);

/// The scenario of a file for a protocol, with another seed when one is given. Errors: what is
/// wrong with either
Result<Scenario>
scenario_for(const Protocol& protocol, const std::string& path, const std::string& seed);

/// While it lives, the first SIGINT asks for an end with what there is; the second ends the
/// process.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    /// Since the process began.
    [[nodiscard]] static bool seen() noexcept;

  private:
    void (*before_)(int);
};
inline constexpr int exit_interrupted = 128 + SIGINT;

} // namespace promtact::sim
