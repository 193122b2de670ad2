// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <promtact/raft_sim/protocol.hpp>
#include <promtact/sim/protocol.hpp>

#include "cluster.hpp"

namespace promtact::raft_sim {
namespace {

using Parts = sim::Parts<Cluster>;

constexpr const char* elects = "a leader is elected";
constexpr const char* commits = "a command is committed";

/// L1, L2: once the faults have ended there is a leader, and everybody gets to where it was then.
constexpr std::uint64_t converges_within = 1000; // steps

bool has_leader(const Cluster& cluster) {
    return std::any_of(
        cluster.members().begin(), cluster.members().end(),
        [](const Member& member) { return member.core().role() == raft::Role::leader; });
}

void prepare(Parts::Engine& engine, Cluster& cluster) {
    // One property a sentence of the ghost: what is made small is told by its name.
    class Watch final : public engine::Invariant {
      public:
        explicit Watch(const Ghost& ghost) : ghost_(ghost) {}
        [[nodiscard]] std::string_view name() const override {
            return ghost_.found() ? std::string_view(ghost_.found()->property) : "raft is safe";
        }
        std::optional<engine::Broken> check() override {
            if (!ghost_.found()) return std::nullopt;
            return ghost_.found()->broken;
        }

      private:
        const Ghost& ghost_;
    };
    engine.watch(std::make_unique<Watch>(cluster.ghost()));
    engine.expect(
        {.name = "everybody gets to what was committed",
         .within = converges_within,
         .holds =
             [&cluster, goal = std::optional<raft::Index>{}]() mutable {
                 if (!goal) goal = cluster.ghost().committed();
                 return has_leader(cluster) &&
                        std::all_of(
                            cluster.members().begin(), cluster.members().end(),
                            [&goal](const Member& member) {
                                return member.core().applied() >= *goal;
                            });
             },
         .explain =
             [&cluster] { return "up to entry " + std::to_string(cluster.ghost().committed()); }});
    engine.goals().declare(elects);
    engine.goals().declare(commits);
}

void after_step(Parts::Engine& engine, Cluster& cluster) {
    engine::Goals& goals = engine.goals();
    if (!goals.reached(elects) && cluster.ghost().leaders() > 0) goals.reach(elects);
    // The first entry of a leadership is its no-op.
    if (!goals.reached(commits) && cluster.ghost().committed() > 1) goals.reach(commits);
}

} // namespace

sim::Protocol protocol() {
    Parts parts;
    parts.make = [](const Scenario& scenario) {
        Settings settings{.nodes = scenario.nodes, .seed = scenario.seed};
        return std::make_unique<Cluster>(settings);
    };
    parts.prepare = prepare;
    parts.propose = [](Parts::Engine& engine, Cluster& cluster, std::uint64_t number) {
        for (const NodeId id : std::as_const(cluster).nodes())
            if (engine.up(id)) static_cast<void>(cluster.at(id).propose(number));
    };
    parts.after_step = after_step;
    return sim::protocol<Cluster>("raft", std::move(parts));
}

} // namespace promtact::raft_sim
