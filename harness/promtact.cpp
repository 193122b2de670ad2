// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The commands this build offers, and main. A command is one line here and one file in commands/.
#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <vector>

#include <promtact/harness/command.hpp>

#include "umbrella.hpp"

namespace promtact::harness {

std::span<const Command> commands() {
    static constexpr auto table = [] {
        auto rows = std::to_array<Command>({
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
        });
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
    return promtact::harness::run_umbrella(words, promtact::harness::commands());
}
