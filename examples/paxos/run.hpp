// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One run of Paxos: competing proposers, chance, and whatever faults the plan has.
#pragma once

#include "cluster.hpp"

namespace paxos {

struct RunOptions {
    std::uint32_t nodes = 5;
    std::uint64_t steps = 600;
    std::uint64_t propose_every = 37; // 0: once, by node 1
    Mutations mutations{};
    promtact::engine::RunConfig config{};
};

struct RunResult {
    std::optional<promtact::engine::Stop> stop{};
    std::optional<Value> chosen{};
    std::uint64_t adoptions = 0;
    promtact::Digest128 trace{};
    std::vector<std::uint64_t> fault_counts{};
    promtact::engine::RunCounts counts{};
};

inline RunResult run(const RunOptions& options) {
    Cluster cluster(options.nodes, options.mutations);
    promtact::engine::Engine<Cluster> engine(cluster, options.config);
    watch_all(engine, cluster);
    for (std::uint64_t step = 1; step <= options.steps; ++step) {
        if (!engine.step_checked()) break;
        const bool proposes =
            options.propose_every == 0 ? step == 1 : step % options.propose_every == 0;
        if (!proposes) continue;
        const std::uint64_t turn =
            options.propose_every == 0 ? 0 : step / options.propose_every - 1;
        const NodeId proposer(static_cast<std::uint32_t>(turn % options.nodes) + 1);
        if (!engine.up(proposer)) continue;
        cluster.propose(proposer, 100 + turn);
        engine.collect();
    }
    RunResult result{
        .stop = engine.stop(),
        .adoptions = cluster.adoptions(),
        .trace = engine.trace(),
        .fault_counts = engine.fault_counts(),
        .counts = engine.counts()};
    const auto learned = cluster.learned();
    if (!learned.empty()) result.chosen = *learned.begin();
    return result;
}

} // namespace paxos
