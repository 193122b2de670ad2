// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "node_state.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>

namespace promtact::raft::interaction {
namespace {

Term less(Term term, Term offset, Term at_least) noexcept {
    return term < at_least + offset ? std::min(term, at_least) : term - offset;
}

std::string describe(const LogLine& line) {
    return std::to_string(line.term) + (line.configuration ? " configuration" : " \"") +
           (line.configuration ? "" : line.payload + "\"");
}

template <class T>
void compare(
    std::vector<std::string>& found, std::string_view what, const std::optional<T>& known,
    const T& actual) {
    if (!known.has_value() || *known == actual) return;
    std::string text(what);
    if constexpr (std::is_same_v<T, Role>) {
        text += " " + std::string(to_string(actual)) + " instead of ";
        found.push_back(text + std::string(to_string(*known)));
    } else {
        found.push_back(
            text + " " + std::to_string(actual) + " instead of " + std::to_string(*known));
    }
}

} // namespace

NodeState state_of(const Core& core, Term offset) {
    NodeState state;
    state.role = core.role();
    state.term = less(core.term(), offset, 0);
    state.vote = core.vote();
    state.leader = core.leader();
    state.commit = core.commit();
    state.last = core.log().last();
    state.member = core.configuration().is_voter(core.id());
    for (Index index = core.log().base() + 1; index <= core.log().last(); ++index) {
        const Entry entry = core.log().at(index);
        const bool configuration = entry.kind == EntryKind::configuration;
        state.log[index] = {
            .term = less(entry.term, offset, 1),
            .configuration = configuration,
            .payload = configuration ? "" : std::string(text_of(entry.data))};
    }
    PROMTACT_ASSERT(state.commit <= state.last);
    return state;
}

bool KnownState::empty() const noexcept {
    return !role && !term && !vote && !leader && !commit && !last && log.empty();
}

std::vector<std::string> contradictions(const KnownState& known, const NodeState& node) {
    std::vector<std::string> found;
    compare(found, "role", known.role, node.role);
    compare(found, "term", known.term, node.term);
    compare(found, "vote", known.vote, node.vote);
    compare(found, "leader", known.leader, node.leader);
    compare(found, "commit", known.commit, node.commit);
    compare(found, "last", known.last, node.last);
    for (const auto& [index, line] : known.log) {
        const auto entry = node.log.find(index);
        if (entry == node.log.end() || entry->second == line) continue;
        found.push_back(
            "entry " + std::to_string(index) + " " + describe(entry->second) + " instead of " +
            describe(line));
    }
    return found;
}

} // namespace promtact::raft::interaction
