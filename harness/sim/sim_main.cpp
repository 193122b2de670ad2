// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/assert.hpp>
#include <promtact/harness/umbrella.hpp>
#include <promtact/sim/sim_main.hpp>

namespace promtact::sim {

std::vector<harness::Command> commands(const Tool& tool) {
    const auto with = [&tool](int (*run)(const Tool&, std::span<const std::string>)) {
        return [tool, run](std::span<const std::string> arguments) { return run(tool, arguments); };
    };
    return {
        {"diff", "say where two recorded runs differ first", "", with(run_diff)},
        {"replay", "run a recorded case again and compare", "", with(run_replay)},
        {"shrink", "make a failing run small", "", with(run_shrink)},
        {"simulate", "run a scenario under virtual time", "", with(run_simulate)},
        {"sweep", "run many seeds of a scenario on all cores", "", with(run_sweep)},
    };
}

int sim_main(int argc, char** argv, std::vector<Protocol> protocols) {
    PROMTACT_ASSERT(argc > 0);
    PROMTACT_ASSERT(!protocols.empty());
    const std::vector<std::string> words(argv, argv + argc);
    const std::string program = words.front().substr(words.front().find_last_of('/') + 1);
    const std::vector<harness::Command> all =
        commands({.program = program, .protocols = std::move(protocols)});
    return harness::run_umbrella(words, {.name = program, .commands = all});
}

} // namespace promtact::sim
