// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "transcript.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/numbers.hpp>

namespace promtact::raft::interaction {
namespace {

using promtact::detail::trimmed;

std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

/// The number at the front of text, removed from it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    const std::string_view digits = promtact::detail::take_digits(text);
    auto number = parse_u64(digits);
    if (!number) return std::nullopt;
    return *number;
}

/// The number behind "key:" in a line of such pairs.
std::optional<std::uint64_t> number_of(std::string_view line, std::string_view key) {
    const std::string wanted = std::string(key) + ":";
    const std::size_t at = line.find(wanted);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = trimmed(line.substr(at + wanted.size()));
    return take_number(rest);
}

std::optional<Role> role_of(std::string_view line) {
    if (line.find("StateLeader") != std::string_view::npos) return Role::leader;
    if (line.find("StatePreCandidate") != std::string_view::npos) return Role::pre_candidate;
    if (line.find("StateCandidate") != std::string_view::npos) return Role::candidate;
    if (line.find("StateFollower") != std::string_view::npos) return Role::follower;
    return std::nullopt;
}

/// "4/12 EntryNormal \"text\"".
std::optional<std::pair<Index, LogLine>> entry_of(std::string_view line) {
    const auto term = take_number(line);
    if (!term || !line.starts_with('/')) return std::nullopt;
    line.remove_prefix(1);
    const auto index = take_number(line);
    if (!index || !line.starts_with(" Entry")) return std::nullopt;
    LogLine entry{.term = *term};
    entry.configuration = line.find("ConfChange") != std::string_view::npos;
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (!entry.configuration && open < close)
        entry.payload = line.substr(open + 1, close - open - 1);
    return std::pair{*index, entry};
}

/// Whether a command can change a node without showing it.
bool may_change(const Stanza& stanza) {
    constexpr std::string_view looking[] = {"log-level", "raft-log", "raft-state", "status"};
    return std::find(std::begin(looking), std::end(looking), stanza.command) == std::end(looking);
}

} // namespace

void Transcript::read(const Stanza& stanza) {
    shown_.clear();
    if (stanza.command == "log-level") {
        silent_ = !stanza.arguments.empty() && stanza.arguments.front().key == "none";
    } else if (stanza.command == "raft-state") {
        read_states(stanza.expected);
    } else if (stanza.command == "raft-log") {
        read_log(stanza);
    } else if (!silent_) {
        read_batches(stanza);
    } else if (may_change(stanza)) {
        for (auto& [id, node] : nodes_)
            node = {};
    }
    if (stanza.command == "add-nodes") read_new_nodes(stanza);
}

void Transcript::read_new_nodes(const Stanza& stanza) {
    auto count = stanza.arguments.empty() ? std::uint64_t{0}
                                          : parse_u64(stanza.arguments.front().key).value_or(0);
    KnownState fresh{.role = Role::follower, .term = 0, .vote = no_node, .leader = no_node};
    const Argument* index = stanza.find("index");
    fresh.commit = index == nullptr || index->values.empty()
                       ? Index{0}
                       : parse_u64(index->values.front()).value_or(0);
    fresh.last = fresh.commit;
    for (; count > 0 && nodes_.size() < 64; --count)
        nodes_[nodes_.size() + 1] = fresh;
}

void Transcript::read_batches(const Stanza& stanza) {
    // One node alone hands out its batch without a headline.
    NodeId id = no_node;
    Section section = Section::none;
    if (stanza.command == "process-ready" && stanza.arguments.size() == 1) {
        id = parse_u64(stanza.arguments.front().key).value_or(no_node);
        section = Section::batch;
    }
    std::string_view text = stanza.expected;
    while (!text.empty()) {
        std::string_view line = trimmed(take_line(text));
        if (line.starts_with("> ")) {
            line.remove_prefix(2);
            id = take_number(line).value_or(no_node);
            section = line == " handling Ready" ? Section::batch : Section::none;
            continue;
        }
        const auto node = nodes_.find(id);
        if (section != Section::none && node != nodes_.end())
            read_batch_line(node->second, line, section);
    }
}

void Transcript::read_batch_line(KnownState& node, std::string_view line, Section& section) {
    if (line.starts_with("Lead:")) {
        node.leader = number_of(line, "Lead");
        node.role = role_of(line);
    } else if (line.starts_with("HardState ")) {
        node.term = number_of(line, "Term");
        node.vote = number_of(line, "Vote").value_or(no_node);
        node.commit = number_of(line, "Commit");
    } else if (line == "Entries:") {
        section = Section::entries;
    } else if (line == "CommittedEntries:" || line == "Messages:") {
        section = Section::skipped;
    } else if (line.starts_with("Snapshot Index:")) {
        node.last = number_of(line, "Index");
        node.log.clear();
    } else if (section == Section::entries) {
        const auto entry = entry_of(line);
        if (!entry) {
            section = Section::batch;
            return;
        }
        node.log.erase(node.log.lower_bound(entry->first), node.log.end());
        node.log[entry->first] = entry->second;
        node.last = entry->first;
    }
}

/// "2: StateFollower (Voter) Term:1 Lead:1".
void Transcript::read_states(std::string_view text) {
    while (!text.empty()) {
        std::string_view line = trimmed(take_line(text));
        const auto id = take_number(line);
        if (!id) continue;
        shown_[*id] = {
            .role = role_of(line),
            .term = number_of(line, "Term"),
            .leader = number_of(line, "Lead")};
    }
}

void Transcript::read_log(const Stanza& stanza) {
    if (stanza.arguments.empty()) return;
    const NodeId id = parse_u64(stanza.arguments.front().key).value_or(no_node);
    KnownState log;
    std::string_view text = stanza.expected;
    while (!text.empty()) {
        const auto entry = entry_of(trimmed(take_line(text)));
        if (!entry) continue;
        log.log[entry->first] = entry->second;
        log.last = entry->first;
    }
    const auto node = nodes_.find(id);
    if (node == nodes_.end() || !log.last.has_value()) return;
    node->second.last = log.last;
    node->second.log = std::move(log.log);
}

} // namespace promtact::raft::interaction
