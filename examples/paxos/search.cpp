// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "search.hpp"

#include <algorithm>

namespace paxos {

using promtact::engine::Broken;

namespace {

/// Whether a quorum accepted the value in the ballot.
bool is_chosen(const Cluster& cluster, const Acceptance& wanted) {
    std::uint32_t voters = 0;
    for (const NodeId id : cluster.nodes()) {
        const std::vector<Acceptance>& history = cluster.at(id).acceptances();
        voters += std::any_of(
                      history.begin(), history.end(),
                      [&](const Acceptance& one) {
                          return one.ballot == wanted.ballot && one.value == wanted.value;
                      })
                      ? 1
                      : 0;
    }
    return voters >= cluster.quorum();
}

} // namespace

std::optional<Broken> two_values(const Cluster& cluster) {
    std::optional<Value> chosen;
    for (const NodeId id : cluster.nodes()) {
        for (const Acceptance& one : cluster.at(id).acceptances()) {
            if (chosen == one.value || !is_chosen(cluster, one)) continue;
            if (chosen) {
                return Broken{
                    .text = "value " + std::to_string(one.value) + " is chosen in ballot " +
                            std::to_string(one.ballot) + ", and " + std::to_string(*chosen) +
                            " is chosen, too",
                    .key = "two values"};
            }
            chosen = one.value;
        }
    }
    for (const NodeId id : cluster.nodes()) {
        const std::optional<Value> announced = cluster.at(id).chosen();
        if (!announced || announced == chosen) continue;
        return Broken{
            .text = "value " + std::to_string(*announced) + " was announced and not chosen",
            .key = "announced"};
    }
    return std::nullopt;
}

std::optional<Broken> accepted_below(const Cluster& cluster) {
    for (const NodeId id : cluster.nodes()) {
        const std::vector<Acceptance>& history = cluster.at(id).acceptances();
        for (std::size_t n = 1; n < history.size(); ++n) {
            if (history[n].ballot >= history[n - 1].ballot) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " accepted in ballot " +
                        std::to_string(history[n].ballot) + " after " +
                        std::to_string(history[n - 1].ballot),
                .key = "accepted below"};
        }
    }
    return std::nullopt;
}

std::optional<Broken> promise_fell(const Cluster& before, const Cluster& after) {
    for (const NodeId id : after.nodes()) {
        const Ballot was = before.at(id).promised();
        const Ballot now = after.at(id).promised();
        if (now >= was) continue;
        return Broken{
            .text = "node " + std::to_string(id.value()) + " promised " + std::to_string(was) +
                    " and now only " + std::to_string(now),
            .key = "promise fell"};
    }
    return std::nullopt;
}

std::optional<Broken> ballot_twice(const Cluster& cluster) {
    for (const NodeId id : cluster.nodes()) {
        const std::vector<Ballot>& begun = cluster.at(id).ballots();
        for (std::size_t n = 1; n < begun.size(); ++n) {
            const auto last = begun.begin() + static_cast<std::ptrdiff_t>(n);
            if (std::find(begun.begin(), last, *last) == last) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " begins ballot " +
                        std::to_string(*last) + " again",
                .key = "ballot twice"};
        }
    }
    return std::nullopt;
}

std::optional<Broken> acceptance_fell(const Cluster& before, const Cluster& after) {
    for (const NodeId id : after.nodes()) {
        if (after.at(id).accepted() >= before.at(id).accepted()) continue;
        return Broken{
            .text = "node " + std::to_string(id.value()) + " no longer knows what it accepted in " +
                    std::to_string(before.at(id).accepted()),
            .key = "acceptance fell"};
    }
    return std::nullopt;
}

std::optional<Broken> invented(const Cluster& cluster) {
    for (const NodeId id : cluster.nodes()) {
        for (const Acceptance& one : cluster.at(id).acceptances()) {
            if (cluster.asked_for().count(one.value) > 0) continue;
            return Broken{
                .text = "node " + std::to_string(id.value()) + " accepted value " +
                        std::to_string(one.value) + ", for which nobody asked",
                .key = "invented"};
        }
    }
    return std::nullopt;
}

void prepare_search(promtact::engine::Explorer<Cluster>& explorer) {
    explorer.watch("at most one value is chosen", two_values);
    explorer.watch("promises are kept", accepted_below);
    explorer.watch_step("promises are kept", promise_fell);
    explorer.watch_step("promises are kept", acceptance_fell);
    explorer.watch("ballots are unique", ballot_twice);
    explorer.watch("values were proposed", invented);
    explorer.goal(
        "a value is chosen", [](const Cluster& cluster) { return !cluster.learned().empty(); });
    explorer.goal("a value of another proposer is adopted", [](const Cluster& cluster) {
        return cluster.adoptions() > 0;
    });
    explorer.commands([](Cluster& cluster, std::uint64_t number, std::span<const NodeId> down) {
        const auto ids = std::as_const(cluster).nodes();
        const NodeId proposer = ids[static_cast<std::size_t>((number - 1) % ids.size())];
        if (std::find(down.begin(), down.end(), proposer) != down.end()) return false;
        cluster.propose(proposer, 99 + number);
        return true;
    });
}

} // namespace paxos
