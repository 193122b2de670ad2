// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// simulate, sweep, replay, shrink and diff for Paxos.
#include <promtact/sim/sim_main.hpp>

#include "protocol.hpp"

int main(int argc, char** argv) {
    return promtact::sim::sim_main(argc, argv, {paxos::protocol()});
}
