// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "protocol.hpp"

#include <promtact/sim/protocol.hpp>

#include "search.hpp"

namespace paxos {

promtact::sim::Protocol protocol(const Mutations& mutations) {
    using Parts = promtact::sim::Parts<Cluster>;
    Parts parts;
    parts.make = [mutations](const promtact::Scenario& scenario) {
        return std::make_unique<Cluster>(scenario.nodes, mutations);
    };
    parts.prepare = [](Parts::Engine& engine, Cluster& cluster) {
        watch_all(engine, cluster);
        engine.goals().declare("a value is chosen");
        engine.goals().declare("a value of another proposer is adopted");
    };
    parts.propose = [](Parts::Engine& engine, Cluster& cluster, std::uint64_t number) {
        const auto ids = std::as_const(cluster).nodes();
        const NodeId proposer = ids[static_cast<std::size_t>((number - 1) % ids.size())];
        if (engine.up(proposer)) cluster.propose(proposer, 99 + number);
    };
    parts.after_step = [](Parts::Engine& engine, Cluster& cluster) {
        promtact::engine::Goals& goals = engine.goals();
        if (!goals.reached("a value is chosen") && !cluster.learned().empty())
            goals.reach("a value is chosen");
        if (!goals.reached("a value of another proposer is adopted") && cluster.adoptions() > 0)
            goals.reach("a value of another proposer is adopted");
    };
    parts.prepare_search = prepare_search;
    return promtact::sim::protocol<Cluster>("paxos", std::move(parts));
}

} // namespace paxos
