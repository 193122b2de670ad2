// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Changes of the members. Source: dissertation §4.1 (in force on append, one at a time, not before
// a commit of the leader's own term), §4.2.1 (learners), §4.2.2 (a leader that is removed), §4.3
// (joint consensus).
#include <algorithm>
#include <utility>

#include <promtact/raft/configuration_entry.hpp>
#include <promtact/raft/core.hpp>

namespace promtact::raft {
namespace {

bool holds(const std::vector<NodeId>& set, NodeId id) noexcept {
    return std::binary_search(set.begin(), set.end(), id);
}

} // namespace

ProposeResult Core::propose_config(const ConfigurationChange& change, Force force) {
    const auto refused = [this](ProposeStatus why) {
        ++counters_.proposals_refused;
        return ProposeResult{.status = why, .term = term_, .leader = leader_};
    };
    if (fault_ != Fault::none) return refused(ProposeStatus::stopped);
    if (role_ != Role::leader) return refused(ProposeStatus::not_leader);
    if (transfer_to_ != no_node || is_retiring()) return refused(ProposeStatus::transferring);
    if (commit_ < term_start_) return refused(ProposeStatus::not_ready);
    if (configuration_index() > commit_ || (configuration().is_joint() && !change.leaves_joint()))
        return refused(ProposeStatus::change_in_progress);
    if (change.steps.size() > change_steps_max || change.context.size() > change_context_max)
        return refused(ProposeStatus::invalid_change);
    const auto after = apply_change(configuration(), change);
    if (!after) return refused(ProposeStatus::invalid_change);
    if (force == Force::no) {
        if (const auto why = refuse_change(*after)) return refused(*why);
    }
    const Index index = append_configuration(*after, change.context);
    return {.index = index, .term = term_, .leader = leader_};
}

/// Whether the change would leave the group without a quorum of members that answer now, or make a
/// voter of a learner that would hold up every commit until it has caught up.
std::optional<ProposeStatus> Core::refuse_change(const Configuration& after) const {
    const Configuration& before = configuration();
    const bool quorum = has_quorum(after, [this](NodeId voter) {
        if (voter == options_.id) return true;
        const Progress* follower = progress(voter);
        return follower != nullptr && follower->heard && follower->silent < options_.election_ticks;
    });
    if (!quorum) return ProposeStatus::would_lose_quorum;
    for (const NodeId voter : after.voters) {
        if (!holds(before.learners, voter)) continue;
        const Progress* follower = progress(voter);
        if (follower == nullptr || follower->match + options_.promotion_lag_max < log_.last())
            return ProposeStatus::learner_not_ready;
    }
    return std::nullopt;
}

/// In force from here on.
Index Core::append_configuration(
    const Configuration& configuration, std::span<const std::byte> context) {
    PROMTACT_ASSERT(configuration_index() <= commit_); // one at a time
    std::vector<std::byte> data;
    encode_configuration_entry(configuration, context, data);
    const Index index = append_entry(EntryKind::configuration, data);
    configurations_.append(index, configuration);
    ++counters_.changes;
    lease_until_ = 0; // it was given by others
    lease_round_ = 0;
    sync_progress();
    return index;
}

/// Follows the members of the configuration in force. Who has left is still told so, for a while:
/// a member that does not know that it is removed would stand for election again and again.
void Core::sync_progress() {
    const std::vector<NodeId> members = members_of(configuration());
    for (Progress& follower : progress_) {
        if (holds(members, follower.id)) {
            follower.leaving = 0;
            follower.leaving_ticks = 0;
        } else if (follower.leaving == 0) {
            follower.leaving = configuration_index();
        }
    }
    for (const NodeId member : members) {
        if (member == options_.id || progress(member) != nullptr) continue;
        const auto place = std::lower_bound(
            progress_.begin(), progress_.end(), member,
            [](const Progress& p, NodeId wanted) { return p.id < wanted; });
        progress_.insert(
            place,
            Progress(member, log_.last() + 1, options_.inflight_messages, options_.inflight_bytes));
    }
    due_ = true;
}

/// The configuration in force is committed and this leader has no vote in it: it goes on until
/// everything in its log is committed, and then makes room. Source: §4.2.2
bool Core::is_retiring() const noexcept {
    return role_ == Role::leader && configuration_index() <= commit_ &&
           !configuration().is_voter(options_.id);
}

void Core::after_commit() {
    PROMTACT_ASSERT(role_ == Role::leader);
    std::erase_if(progress_, has_left);
    if (configuration_index() > commit_) return;
    // Once the entry that leaves is in the log the configuration is joint no longer: there is no
    // second one.
    if (configuration().is_joint() && configuration().auto_leave && commit_ >= term_start_) {
        const auto after = leave_joint(configuration());
        PROMTACT_ASSERT(after.has_value());
        append_configuration(*after, {});
        ++counters_.joint_left;
        return;
    }
    if (is_retiring() && commit_ == log_.last()) retire();
}

/// Everybody learns what is committed, the voter that knows most stands at once.
void Core::retire() {
    PROMTACT_ASSERT(is_retiring());
    ++counters_.retired;
    Progress* best = nullptr;
    for (Progress& follower : progress_) {
        send_heartbeat(follower, 0);
        if (!configuration().is_voter(follower.id)) continue;
        if (best == nullptr || follower.match > best->match) best = &follower;
    }
    if (best != nullptr) send_timeout_now(*best);
    follow(term_, no_node);
}

} // namespace promtact::raft
