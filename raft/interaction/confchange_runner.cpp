// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "confchange_runner.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/raft/configuration_change.hpp>

#include "steps.hpp"

namespace promtact::raft::interaction {
namespace {

struct Row {
    ChangeRefusal refusal{};
    std::string_view text{};
};
/// How the files say what our functions say in their own words.
constexpr std::array refusals{
    Row{ChangeRefusal::already_joint, "config is already joint"},
    Row{ChangeRefusal::not_joint, "can't leave a non-joint config"},
    Row{ChangeRefusal::simple_while_joint, "can't apply simple config change in joint config"},
    Row{ChangeRefusal::joint_without_voter, "can't make a zero-voter config joint"},
    Row{ChangeRefusal::removes_all_voters, "removed all voters"},
    Row{ChangeRefusal::several_voters,
        "more than one voter changed without entering joint config"}};

std::string refusal_text(const Error& error) {
    for (const Row& row : refusals)
        if (error.context == to_string(row.refusal)) return std::string(row.text);
    return error.context;
}

Result<bool> read_auto_leave(const Stanza& stanza) {
    const Argument* argument = stanza.find("autoleave");
    if (argument == nullptr) return false;
    if (argument->values == std::vector<std::string>{"true"}) return true;
    if (argument->values == std::vector<std::string>{"false"}) return false;
    return Error{Errc::invalid_argument, 0, "autoleave is neither true nor false"};
}

Result<Configuration> change(
    const Stanza& stanza, const Configuration& before,
    const std::vector<ConfigurationStep>& steps) {
    if (stanza.command == "simple") return simple(before, steps);
    if (stanza.command == "leave-joint") return leave_joint(before);
    PROMTACT_TRY_ASSIGN(const bool auto_leave, read_auto_leave(stanza));
    return enter_joint(before, auto_leave, steps);
}

/// A member that leaves in the middle of a change and comes back begins anew.
void follow(std::map<NodeId, Index>& next, const Configuration& configuration, Index first_probe) {
    std::erase_if(next, [&](const auto& one) { return !configuration.contains(one.first); });
    for (const NodeId id : members_of(configuration))
        next.try_emplace(id, first_probe);
}

} // namespace

Result<std::string> ConfchangeRunner::operator()(const Stanza& stanza) {
    const Index first_probe = std::max<Index>(last_index_, 1);
    ++last_index_;
    if (stanza.command != "simple" && stanza.command != "enter-joint" &&
        stanza.command != "leave-joint")
        return Error{Errc::invalid_argument, 0, "unknown command " + stanza.command};
    PROMTACT_TRY_ASSIGN(const auto steps, read_steps(stanza.input));
    if (stanza.command == "leave-joint" && !steps.empty())
        return Error{Errc::invalid_argument, 0, "leave-joint takes no input"};
    auto after = change(stanza, configuration_, steps);
    if (!after && after.error().code != Errc::refused) return std::move(after).error();
    if (!after) return refusal_text(after.error()) + "\n";
    Configuration between = configuration_;
    if (stanza.command == "enter-joint") between.outgoing = between.voters;
    for (const ConfigurationStep step : steps) {
        apply_step(between, step);
        follow(next_, between, first_probe);
    }
    configuration_ = *std::move(after);
    follow(next_, configuration_, first_probe);
    PROMTACT_ASSERT(next_.size() == members_of(configuration_).size());
    std::string text = to_string(configuration_) + "\n";
    for (const auto& [id, next] : next_) {
        text += std::to_string(id) + ": StateProbe match=0 next=" + std::to_string(next);
        text += configuration_.is_learner(id) ? " learner\n" : "\n";
    }
    return text;
}

} // namespace promtact::raft::interaction
