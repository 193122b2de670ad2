// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Paxos with one deliberate mistake each, to see that it is found: paxos_mutants sweep --protocol
// x3 ...
#include <promtact/sim/sim_main.hpp>

#include "protocol.hpp"

int main(int argc, char** argv) {
    using paxos::Mutations;
    std::vector<promtact::sim::Protocol> protocols;
    const auto add = [&protocols](const char* name, const Mutations& mutations) {
        protocols.push_back(paxos::protocol(mutations));
        protocols.back().name = name;
    };
    add("correct", {});
    add("x1", {.promise_not_durable = true});
    add("x2", {.accepts_below_promise = true});
    add("x3", {.adopts_any_value = true});
    add("x4", {.ballots_start_anew = true});
    add("x6", {.counts_across_ballots = true});
    add("x8", {.no_back_off = true});
    add("forgets", {.forgets_accepted = true});
    add("invents", {.invents_value = true});
    return promtact::sim::sim_main(argc, argv, std::move(protocols));
}
