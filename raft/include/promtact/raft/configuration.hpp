// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Who takes part in the cluster and how. A configuration is either simple (one set of voters) or
// joint (two sets that must both agree) while an arbitrary change is under way. A voter that a
// joint change makes a learner still votes in the outgoing set, so it is staged in learners_next
// and becomes a learner when the joint configuration is left.
// Source: Ongaro's dissertation §4.2.1 and §4.3; the sets are those of etcd's raft.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/raft/ids.hpp>
#include <promtact/raft/quorum.hpp>

namespace promtact::raft {

/// The most members a configuration may have; a bound for what is decoded, far above what a
/// consensus group can use.
inline constexpr std::size_t configuration_members_max = 4096;

/// The members. Every set is in ascending order, without 0 and without repetition. The default is
/// the configuration of a node that does not know its cluster yet: nobody takes part.
struct Configuration {
    std::vector<NodeId> voters{};        // the incoming set while joint
    std::vector<NodeId> outgoing{};      // the voters before the change; empty unless joint
    std::vector<NodeId> learners{};      // receive the log, do not vote
    std::vector<NodeId> learners_next{}; // learners once the joint configuration is left
    bool auto_leave = false;             // the leader leaves the joint configuration by itself

    [[nodiscard]] bool is_joint() const noexcept { return !outgoing.empty(); }
    /// In either set of voters.
    [[nodiscard]] bool is_voter(NodeId id) const noexcept;
    [[nodiscard]] bool is_learner(NodeId id) const noexcept;
    /// Takes part in any way.
    [[nodiscard]] bool contains(NodeId id) const noexcept;

    friend bool operator==(const Configuration&, const Configuration&) = default;
};

/// A simple configuration of these voters, in any order and with repetitions.
/// Requires: no id is 0
Configuration make_configuration(std::vector<NodeId> voters, std::vector<NodeId> learners = {});

/// Everybody who takes part, in ascending order.
std::vector<NodeId> members_of(const Configuration& configuration);

/// Errors: invalid_argument naming the set, the member and the rule: order and repetition, 0, more
/// than configuration_members_max, a learner that votes, learners_next outside the outgoing set or
/// among the learners or incoming voters, a simple configuration with learners_next or auto_leave,
/// members without a voter. The default configuration is valid.
Result<void> validate(const Configuration& configuration);

/// "voters=(1 2 3)&&(1) learners=(4) learners_next=(1) autoleave", with only the parts that are
/// there.
std::string to_string(const Configuration& configuration);

/// Equal exactly when the configurations are equal. Requires: validate(configuration)
Digest128 digest(const Configuration& configuration);

/// What is committed under the configuration: the lower index of both sets.
template <class Acknowledged>
Index committed_index(
    const Configuration& configuration, const Acknowledged& acknowledged,
    std::vector<Index>& scratch) {
    const Index incoming = committed_index(configuration.voters, acknowledged, scratch);
    return joint_committed_index(
        incoming, committed_index(configuration.outgoing, acknowledged, scratch));
}

/// How an election stands under the configuration. `vote` maps a voter to std::optional<bool>.
template <class Vote>
VoteResult vote_result(const Configuration& configuration, const Vote& vote) {
    return joint_vote_result(
        vote_result(std::span<const NodeId>(configuration.voters), vote),
        vote_result(std::span<const NodeId>(configuration.outgoing), vote));
}

/// Whether the voters for whom `holds` is true are a majority of every set: those that are
/// reachable, that have answered, that have caught up.
template <class Holds>
bool has_quorum(const Configuration& configuration, const Holds& holds) {
    return vote_result(configuration, [&holds](NodeId voter) -> std::optional<bool> {
               return static_cast<bool>(holds(voter));
           }) == VoteResult::won;
}

} // namespace promtact::raft
