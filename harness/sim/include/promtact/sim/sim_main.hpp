// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// simulate, sweep, replay, shrink and diff for your own protocol:
//
//     int main(int argc, char** argv) {
//         return promtact::sim::sim_main(argc, argv, {my_protocol()});
//     }
#pragma once

#include <span>
#include <string>
#include <vector>

#include <promtact/harness/command.hpp>
#include <promtact/sim/protocol.hpp>

namespace promtact::sim {

/// A program and the protocols it knows. The first is the one that runs unless another is named.
struct Tool {
    std::string program{};
    std::vector<Protocol> protocols{};
};

/// The commands, each with the words after its name; they print and return the exit code: 0 pass, 1
/// fail, vacuous, stuck or error, 2 usage, 5 invalid or budget_exhausted. Run a scenario once.
int run_simulate(const Tool& tool, std::span<const std::string> arguments);
/// Run many seeds of it.
int run_sweep(const Tool& tool, std::span<const std::string> arguments);
/// Run a recorded case again. Returns: 1 when it went another way
int run_replay(const Tool& tool, std::span<const std::string> arguments);
/// Make a failing case small. Returns: 1 when it does not fail
int run_shrink(const Tool& tool, std::span<const std::string> arguments);
/// Compare two recorded cases. Returns: 1 when they differ
int run_diff(const Tool& tool, std::span<const std::string> arguments);
/// Write the project of skeleton.hpp. Returns: 1 when it could not be written
int run_new(const Tool& tool, std::span<const std::string> arguments);

/// The reference system's `sim`, on the first protocol.
int run_sim(const Tool& tool, std::span<const std::string> arguments);
/// The reference system's `seeds`. Returns: 1 when a seed failed
int run_seeds(const Tool& tool, std::span<const std::string> arguments);

/// simulate, sweep, replay, shrink and diff as commands of a program, sorted by name.
std::vector<harness::Command> commands(const Tool& tool);

/// The whole program. Returns the exit code: 0 pass; 1 fail, vacuous, stuck or error; 2 usage; 5
/// invalid or budget_exhausted. Requires: at least one protocol
int sim_main(int argc, char** argv, std::vector<Protocol> protocols);

} // namespace promtact::sim
