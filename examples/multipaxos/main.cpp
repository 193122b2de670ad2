// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// simulate, sweep, replay, shrink and diff for Multi-Paxos; with --protocol x9 or forgets for one
// that makes a mistake.
#include <promtact/sim/sim_main.hpp>

#include "protocol.hpp"

int main(int argc, char** argv) {
    std::vector<promtact::sim::Protocol> protocols{multipaxos::protocol()};
    const auto add = [&protocols](const char* name, const multipaxos::Mutations& mutations) {
        protocols.push_back(multipaxos::protocol(mutations));
        protocols.back().name = name;
    };
    add("x9", {.leaves_gaps = true});
    add("forgets", {.forgets_reported = true});
    return promtact::sim::sim_main(argc, argv, std::move(protocols));
}
