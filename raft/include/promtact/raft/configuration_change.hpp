// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// How one configuration becomes the next. A simple change moves at most one voter, so that old and
// new majorities overlap; anything else passes through a joint configuration. All functions are
// pure: what is refused leaves nothing behind.
// Source: Ongaro's dissertation §4.1, §4.3; etcd's raft for learners, order of steps and
// automatic leaving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/raft/configuration.hpp>
#include <promtact/raft/ids.hpp>

namespace promtact::raft {

enum class StepKind : std::uint8_t {
    add_voter = 0,   // a new voter, or a learner that is promoted
    remove = 1,      // no part in the cluster any more; absent members are no error
    update = 2,      // no change of the sets: what `context` says about the member changed
    add_learner = 3, // a new learner, or a voter that is demoted
};

/// One member's change. A step with member 0 does nothing: an owner that declines a step which is
/// already in the log replaces the member with 0.
struct ConfigurationStep {
    StepKind kind = StepKind::add_voter;
    NodeId member = no_node;
    friend bool operator==(const ConfigurationStep&, const ConfigurationStep&) = default;
};

enum class Transition : std::uint8_t {
    automatic = 0,      // simple for at most one step, joint with automatic leave otherwise
    joint_implicit = 1, // joint, left by the leader itself
    joint_explicit = 2, // joint until a change without steps leaves it
};

inline constexpr std::size_t change_steps_max = 4096;
inline constexpr std::size_t change_context_max = std::size_t{64} << 10;

/// What is proposed, as it goes into the log. Without steps and with an automatic transition it
/// leaves the joint configuration.
struct ConfigurationChange {
    Transition transition = Transition::automatic;
    std::vector<ConfigurationStep> steps{};
    std::vector<std::byte> context{}; // the owner's, for example addresses; unread here

    [[nodiscard]] bool leaves_joint() const noexcept {
        return steps.empty() && transition == Transition::automatic;
    }
    [[nodiscard]] bool enters_joint() const noexcept {
        return steps.size() > 1 || transition != Transition::automatic;
    }
    friend bool operator==(const ConfigurationChange&, const ConfigurationChange&) = default;
};

/// Why a change is refused.
enum class ChangeRefusal : std::uint8_t {
    already_joint,       // entering joint while joint
    not_joint,           // leaving joint while simple
    simple_while_joint,  // a simple change while joint
    joint_without_voter, // entering joint with no voter before the change
    removes_all_voters,  // no voter after the change
    several_voters,      // a simple change of more than one voter
    too_many_members,    // more than configuration_members_max
};

/// The sentence that Error::context holds.
std::string_view to_string(ChangeRefusal refusal) noexcept;

/// Does one step. Requires: validate(configuration), or between the steps of one change.
/// Ensures: nothing but the sets changes, except that voters may become empty.
void apply_step(Configuration& configuration, ConfigurationStep step);

/// A change of at most one voter and any number of learners.
/// Requires: validate(before). Errors: refused (simple_while_joint, removes_all_voters,
/// several_voters, too_many_members).
Result<Configuration> simple(const Configuration& before, std::span<const ConfigurationStep> steps);

/// Any change: the voters before it become the outgoing set.
/// Requires: validate(before). Errors: refused (already_joint, joint_without_voter,
/// removes_all_voters, too_many_members).
Result<Configuration>
enter_joint(const Configuration& before, bool auto_leave, std::span<const ConfigurationStep> steps);

/// The incoming set alone decides; staged learners become learners.
/// Requires: validate(before). Errors: refused (not_joint).
Result<Configuration> leave_joint(const Configuration& before);

/// Whichever of the three the change asks for.
/// Requires: validate(before). Errors: as theirs.
Result<Configuration> apply_change(const Configuration& before, const ConfigurationChange& change);

} // namespace promtact::raft
