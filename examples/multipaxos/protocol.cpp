// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "protocol.hpp"

#include <promtact/sim/protocol.hpp>

#include "cluster.hpp"

namespace multipaxos {
namespace {

constexpr const char* leads = "somebody leads";

} // namespace

promtact::sim::Protocol protocol(const Mutations& mutations) {
    using Parts = promtact::sim::Parts<Cluster>;
    Parts parts;
    parts.make = [mutations](const promtact::Scenario& scenario) {
        return std::make_unique<Cluster>(scenario.nodes, mutations);
    };
    parts.prepare = [](Parts::Engine& engine, Cluster& cluster) {
        watch_all(engine, cluster);
        engine.goals().declare(leads);
    };
    parts.after_step = [](Parts::Engine& engine, Cluster& cluster) {
        for (const NodeId id : std::as_const(cluster).nodes()) {
            const Node& node = std::as_const(cluster).at(id);
            if (node.leads()) engine.goals().reach(leads);
        }
    };
    return promtact::sim::protocol<Cluster>("multipaxos", std::move(parts));
}

} // namespace multipaxos
