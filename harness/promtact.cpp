// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The commands this build offers, and main. A command is one line here and one file in commands/.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include <promtact/harness/command.hpp>
#include <promtact/harness/umbrella.hpp>
#include <promtact/raft_sim/protocol.hpp>
#include <promtact/sim/sim_main.hpp>

#include <multipaxos/protocol.hpp>
#include <paxos/protocol.hpp>

namespace promtact::harness {

std::span<const Command> commands() {
    static const std::vector<Command> table = [] {
        std::vector<Command> rows{
#ifdef PROMTACT_KERNEL // commands that need a unit which touches the kernel
            {"bench", "measure what durable writes cost here", "", run_bench},
            {"evidence", "render documents from accepted results, or check them", "", run_evidence},
            {"gates", "ask this host what it can be trusted with, and record it", "", run_gates},
            {"probe", "ask what this host offers to the gates", "promtact-probe", run_probe},
            {"raw-bench", "measure durable writes to a block device, destroying its content",
             "promtact-raw-bench", run_raw_bench},
            {"uring-bench", "measure durable writes to a file", "promtact-uring-bench",
             run_uring_bench},
#endif
            {"version", "print what this binary was built from", "", run_version},
            {"wal", "look at, mend, move or measure a write-ahead log", "", run_wal},
        };
        const sim::Tool tool{
            .program = "promtact",
            .protocols = {paxos::protocol(), multipaxos::protocol(), raft_sim::protocol()}};
        for (Command& command : sim::commands(tool))
            rows.push_back(std::move(command));
        using Words = std::span<const std::string>;
        rows.push_back(
            {"new", "write a project that tests a protocol of your own", "",
             [tool](Words words) { return sim::run_new(tool, words); }});
        rows.push_back(
            {"sim", "run one seed of the built-in protocol", "promtact-sim",
             [tool](Words words) { return sim::run_sim(tool, words); }});
        rows.push_back(
            {"seeds", "run a range of seeds of the built-in protocol", "promtact-seeds",
             [tool](Words words) { return sim::run_seeds(tool, words); }});
        std::ranges::sort(rows, {}, &Command::name);
        return rows;
    }();
    return table;
}

} // namespace promtact::harness

int main(int argc, char** argv) {
    // A limit on file sizes is an error like a full disk, which names the file.
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    const std::vector<std::string> words(argv, argv + argc);
    return promtact::harness::run_umbrella(
        words, {.name = "promtact", .commands = promtact::harness::commands()});
}
