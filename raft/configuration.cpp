// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/raft/configuration.hpp>
#include <promtact/raft/configuration_codec.hpp>

namespace promtact::raft {
namespace {

bool holds(const std::vector<NodeId>& set, NodeId id) noexcept {
    return std::binary_search(set.begin(), set.end(), id);
}

Error invalid(std::string why) {
    return {Errc::invalid_argument, 0, "configuration: " + std::move(why)};
}

Result<void> validate_set(const std::vector<NodeId>& set, const char* name) {
    for (std::size_t i = 0; i < set.size(); ++i) {
        if (set[i] == no_node) return invalid(std::string(name) + " holds member 0");
        if (i > 0 && set[i - 1] >= set[i]) {
            return invalid(
                std::string(name) + " is not in ascending order at member " +
                std::to_string(set[i]));
        }
    }
    return {};
}

/// Errors when a member of `set` is (or, with `wanted`, is not) in `other`.
Result<void> validate_pair(
    const std::vector<NodeId>& set, const char* name, const std::vector<NodeId>& other,
    const char* other_name, bool wanted) {
    for (const NodeId id : set) {
        if (holds(other, id) == wanted) continue;
        return invalid(
            "member " + std::to_string(id) + " is in " + name +
            (wanted ? " but not in " : " and ") + (wanted ? "" : "in ") + other_name);
    }
    return {};
}

void append_set(std::string& text, const std::vector<NodeId>& set) {
    text += '(';
    for (std::size_t i = 0; i < set.size(); ++i)
        text += (i > 0 ? " " : "") + std::to_string(set[i]);
    text += ')';
}

void make_set(std::vector<NodeId>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    PROMTACT_ASSERT(ids.empty() || ids.front() != no_node);
}

} // namespace

bool Configuration::is_voter(NodeId id) const noexcept {
    return holds(voters, id) || holds(outgoing, id);
}

bool Configuration::is_learner(NodeId id) const noexcept {
    return holds(learners, id);
}

bool Configuration::contains(NodeId id) const noexcept {
    return is_voter(id) || is_learner(id); // learners_next is part of outgoing
}

Configuration make_configuration(std::vector<NodeId> voters, std::vector<NodeId> learners) {
    Configuration made;
    made.voters = std::move(voters);
    made.learners = std::move(learners);
    make_set(made.voters);
    make_set(made.learners);
    PROMTACT_ASSERT(!made.is_joint());
    return made;
}

std::vector<NodeId> members_of(const Configuration& configuration) {
    std::vector<NodeId> members;
    for (const auto* set :
         {&configuration.voters, &configuration.outgoing, &configuration.learners})
        members.insert(members.end(), set->begin(), set->end());
    make_set(members);
    PROMTACT_ASSERT(members.size() >= configuration.voters.size());
    return members;
}

Result<void> validate(const Configuration& configuration) {
    const Configuration& c = configuration;
    const std::size_t most =
        std::max({c.voters.size(), c.outgoing.size(), c.learners.size(), c.learners_next.size()});
    if (most > configuration_members_max)
        return invalid("a set holds " + std::to_string(most) + " members");
    PROMTACT_TRY(validate_set(c.voters, "voters"));
    PROMTACT_TRY(validate_set(c.outgoing, "outgoing"));
    PROMTACT_TRY(validate_set(c.learners, "learners"));
    PROMTACT_TRY(validate_set(c.learners_next, "learners_next"));
    PROMTACT_TRY(validate_pair(c.learners, "learners", c.voters, "voters", false));
    PROMTACT_TRY(validate_pair(c.learners, "learners", c.outgoing, "outgoing", false));
    PROMTACT_TRY(validate_pair(c.learners_next, "learners_next", c.outgoing, "outgoing", true));
    PROMTACT_TRY(validate_pair(c.learners_next, "learners_next", c.voters, "voters", false));
    const std::size_t members = members_of(c).size();
    if (members > configuration_members_max)
        return invalid(std::to_string(members) + " members take part");
    if (c.voters.empty() && members > 0) return invalid("nobody votes");
    if (c.auto_leave && !c.is_joint()) return invalid("auto_leave without outgoing voters");
    return {};
}

std::string to_string(const Configuration& configuration) {
    std::string text = "voters=";
    append_set(text, configuration.voters);
    if (configuration.is_joint()) {
        text += "&&";
        append_set(text, configuration.outgoing);
    }
    if (!configuration.learners.empty()) {
        text += " learners=";
        append_set(text, configuration.learners);
    }
    if (!configuration.learners_next.empty()) {
        text += " learners_next=";
        append_set(text, configuration.learners_next);
    }
    if (configuration.auto_leave) text += " autoleave";
    return text;
}

Digest128 digest(const Configuration& configuration) {
    std::vector<std::byte> bytes;
    encode(configuration, bytes);
    PROMTACT_ASSERT(!bytes.empty());
    return digest128(std::span<const std::byte>(bytes));
}

} // namespace promtact::raft
