// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include <promtact/base/assert.hpp>
#include <promtact/raft/configuration_change.hpp>

namespace promtact::raft {
namespace {

void insert(std::vector<NodeId>& set, NodeId id) {
    const auto place = std::lower_bound(set.begin(), set.end(), id);
    if (place == set.end() || *place != id) set.insert(place, id);
}

void erase(std::vector<NodeId>& set, NodeId id) {
    const auto place = std::lower_bound(set.begin(), set.end(), id);
    if (place != set.end() && *place == id) set.erase(place);
}

bool holds(const std::vector<NodeId>& set, NodeId id) {
    return std::binary_search(set.begin(), set.end(), id);
}

void remove(Configuration& configuration, NodeId id) {
    erase(configuration.voters, id);
    erase(configuration.learners, id);
    erase(configuration.learners_next, id);
}

Error refused(ChangeRefusal refusal) {
    return {Errc::refused, 0, std::string(to_string(refusal))};
}

Result<void> apply_steps(Configuration& configuration, std::span<const ConfigurationStep> steps) {
    for (const ConfigurationStep step : steps)
        apply_step(configuration, step);
    if (configuration.voters.empty()) return refused(ChangeRefusal::removes_all_voters);
    if (members_of(configuration).size() > configuration_members_max)
        return refused(ChangeRefusal::too_many_members);
    return {};
}

/// How many ids are in one of two sets alone.
std::size_t difference(const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
    std::vector<NodeId> alone;
    std::set_symmetric_difference(
        a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(alone));
    return alone.size();
}

} // namespace

std::string_view to_string(ChangeRefusal refusal) noexcept {
    switch (refusal) {
    case ChangeRefusal::already_joint:
        return "a joint configuration cannot be entered from another one";
    case ChangeRefusal::not_joint:
        return "the configuration is not joint, so that there is nothing to leave";
    case ChangeRefusal::simple_while_joint:
        return "while the configuration is joint it can only be left";
    case ChangeRefusal::joint_without_voter:
        return "a joint configuration needs voters before the change";
    case ChangeRefusal::removes_all_voters:
        return "no voter would remain";
    case ChangeRefusal::several_voters:
        return "several voters would change at once: pass through a joint configuration";
    case ChangeRefusal::too_many_members:
        return "more than 4096 members would take part";
    }
    return "unknown refusal";
}

void apply_step(Configuration& configuration, ConfigurationStep step) {
    const NodeId id = step.member;
    if (id == no_node) return;
    switch (step.kind) {
    case StepKind::add_voter:
        remove(configuration, id);
        insert(configuration.voters, id);
        PROMTACT_ASSERT(!configuration.is_learner(id));
        return;
    case StepKind::remove:
        remove(configuration, id);
        PROMTACT_ASSERT(configuration.contains(id) == holds(configuration.outgoing, id));
        return;
    case StepKind::update:
        return;
    case StepKind::add_learner:
        remove(configuration, id);
        // Who still votes in the outgoing set must not count twice; it waits.
        insert(
            holds(configuration.outgoing, id) ? configuration.learners_next
                                              : configuration.learners,
            id);
        PROMTACT_ASSERT(configuration.contains(id));
        PROMTACT_ASSERT(!holds(configuration.voters, id));
        return;
    }
    PROMTACT_ASSERT(false);
}

Result<Configuration>
simple(const Configuration& before, std::span<const ConfigurationStep> steps) {
    PROMTACT_ASSERT(validate(before).has_value());
    if (before.is_joint()) return refused(ChangeRefusal::simple_while_joint);
    Configuration after = before;
    PROMTACT_TRY(apply_steps(after, steps));
    if (difference(before.voters, after.voters) > 1) return refused(ChangeRefusal::several_voters);
    PROMTACT_ASSERT(!after.is_joint());
    PROMTACT_ASSERT(validate(after).has_value());
    return after;
}

Result<Configuration> enter_joint(
    const Configuration& before, bool auto_leave, std::span<const ConfigurationStep> steps) {
    PROMTACT_ASSERT(validate(before).has_value());
    if (before.is_joint()) return refused(ChangeRefusal::already_joint);
    if (before.voters.empty()) return refused(ChangeRefusal::joint_without_voter);
    Configuration after = before;
    after.outgoing = before.voters;
    PROMTACT_TRY(apply_steps(after, steps));
    after.auto_leave = auto_leave;
    PROMTACT_ASSERT(after.outgoing == before.voters);
    PROMTACT_ASSERT(validate(after).has_value());
    return after;
}

Result<Configuration> leave_joint(const Configuration& before) {
    PROMTACT_ASSERT(validate(before).has_value());
    if (!before.is_joint()) return refused(ChangeRefusal::not_joint);
    Configuration after = before;
    for (const NodeId id : before.learners_next)
        insert(after.learners, id);
    after.learners_next.clear();
    after.outgoing.clear();
    after.auto_leave = false;
    PROMTACT_ASSERT(after.voters == before.voters);
    PROMTACT_ASSERT(!after.voters.empty());
    PROMTACT_ASSERT(validate(after).has_value());
    return after;
}

Result<Configuration> apply_change(const Configuration& before, const ConfigurationChange& change) {
    if (change.leaves_joint()) return leave_joint(before);
    if (change.enters_joint()) {
        const bool auto_leave = change.transition != Transition::joint_explicit;
        return enter_joint(before, auto_leave, change.steps);
    }
    return simple(before, change.steps);
}

} // namespace promtact::raft
