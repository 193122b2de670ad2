// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "quorum_runner.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/numbers.hpp>
#include <promtact/raft/configuration.hpp>
#include <promtact/raft/quorum.hpp>

namespace promtact::raft::interaction {
namespace {

Error bad(std::string what) {
    return {Errc::invalid_argument, 0, std::move(what)};
}

struct Case {
    Configuration configuration{};   // outgoing is cfgj
    bool joint = false;              // also with an empty second set
    std::vector<NodeId> members{};   // of both, in ascending order
    std::map<NodeId, Index> given{}; // what the stanza says of a member
};

Result<std::vector<NodeId>> read_set(const Argument& argument) {
    std::vector<NodeId> ids;
    for (const std::string& value : argument.values) {
        PROMTACT_TRY_ASSIGN(const NodeId id, parse_u64(value));
        if (id == no_node) return bad(argument.key + " holds member 0");
        ids.push_back(id);
    }
    return ids;
}

/// 0 stands for "nothing said".
Result<Index> read_value(std::string_view command, const std::string& value) {
    if (value == "_") return Index{0};
    if (command == "vote") {
        if (value == "y") return Index{2};
        if (value == "n") return Index{1};
        return bad(promtact::detail::quoted(value) + " is not y, n or _");
    }
    PROMTACT_TRY_ASSIGN(const Index index, parse_u64(value));
    if (index == 0) return bad("index 0 is written _");
    return index;
}

void sort_set(std::vector<NodeId>& ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

Result<Case> read_case(const Stanza& stanza) {
    Case made;
    std::vector<std::string> values;
    for (const Argument& argument : stanza.arguments) {
        if (argument.key == "cfg") {
            PROMTACT_TRY_ASSIGN(made.configuration.voters, read_set(argument));
        } else if (argument.key == "cfgj") {
            made.joint = true;
            if (argument.values == std::vector<std::string>{"zero"}) continue;
            PROMTACT_TRY_ASSIGN(made.configuration.outgoing, read_set(argument));
        } else if (argument.key == (stanza.command == "vote" ? "votes" : "idx")) {
            values = argument.values;
        } else {
            return bad("argument " + argument.key + " is not known");
        }
    }
    std::size_t used = 0;
    for (const auto* set : {&made.configuration.voters, &made.configuration.outgoing}) {
        for (const NodeId id : *set) {
            if (made.given.contains(id)) continue;
            if (used == values.size()) return bad("fewer values than members");
            PROMTACT_TRY_ASSIGN(made.given[id], read_value(stanza.command, values[used]));
            made.members.push_back(id);
            ++used;
        }
    }
    if (used != values.size()) return bad("more values than members");
    PROMTACT_ASSERT(made.members.size() == made.given.size());
    sort_set(made.members);
    sort_set(made.configuration.voters);
    sort_set(made.configuration.outgoing);
    return made;
}

/// A bar for each member, as long as there are members with a lower index.
std::string picture(const Case& what) {
    if (what.members.empty()) return "<empty majority quorum>";
    const std::size_t width = what.members.size();
    std::string text = std::string(width, ' ') + "    idx\n";
    for (const NodeId id : what.members) {
        const Index index = what.given.at(id);
        const auto lower = std::count_if(what.given.begin(), what.given.end(), [index](auto& one) {
            return one.second < index;
        });
        const auto bar = static_cast<std::size_t>(lower);
        PROMTACT_ASSERT(bar < width);
        text += index == 0 ? "?" + std::string(width, ' ')
                           : std::string(bar, 'x') + ">" + std::string(width - bar, ' ');
        const std::string number = std::to_string(index);
        text += " " + std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number;
        text += "    (id=" + std::to_string(id) + ")\n";
    }
    return text;
}

Index committed(const Case& what, const Configuration& configuration) {
    std::vector<Index> scratch;
    const auto acknowledged = [&what](NodeId id) { return what.given.at(id); };
    return committed_index(configuration, acknowledged, scratch);
}

VoteResult voted(const Case& what, const Configuration& configuration) {
    return vote_result(configuration, [&what](NodeId id) -> std::optional<bool> {
        const Index said = what.given.at(id);
        if (said == 0) return std::nullopt;
        return said == 2;
    });
}

/// The configurations that must decide alike: the sets exchanged, and for a single set the same
/// set twice.
std::vector<Configuration> equivalents(const Case& what) {
    Configuration exchanged = what.configuration;
    std::swap(exchanged.voters, exchanged.outgoing);
    std::vector<Configuration> all{exchanged};
    if (!what.joint) {
        all.push_back(what.configuration);
        all.back().outgoing = what.configuration.voters;
    }
    PROMTACT_ASSERT(!all.empty());
    return all;
}

std::string index_text(Index index) {
    return index == committed_everything ? "∞" : std::to_string(index);
}

std::string vote_text(VoteResult result) {
    switch (result) {
    case VoteResult::pending:
        return "VotePending";
    case VoteResult::won:
        return "VoteWon";
    case VoteResult::lost:
        return "VoteLost";
    }
    return "VoteUnknown";
}

template <class Decide, class Text>
std::string decide(const Case& what, const Decide& decision, const Text& text) {
    const auto result = decision(what, what.configuration);
    std::string said;
    for (const Configuration& other : equivalents(what)) {
        if (decision(what, other) != result)
            said += text(decision(what, other)) + " under " + to_string(other) + "\n";
    }
    return said + text(result) + "\n";
}

} // namespace

Result<std::string> run_quorum(const Stanza& stanza) {
    const bool vote = stanza.command == "vote";
    if (!vote && stanza.command != "committed") return bad("unknown command " + stanza.command);
    PROMTACT_TRY_ASSIGN(const Case what, read_case(stanza));
    if (vote) return decide(what, voted, vote_text);
    return picture(what) + decide(what, committed, index_text);
}

} // namespace promtact::raft::interaction
