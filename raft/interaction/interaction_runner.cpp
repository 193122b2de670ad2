// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "interaction_runner.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/numbers.hpp>

#include "steps.hpp"

namespace promtact::raft::interaction {
namespace {

constexpr std::uint64_t election_ticks = 3;
constexpr std::uint64_t nodes_max = 64;
constexpr std::size_t rounds_max = 1000; // until nothing moves any more

Error bad(std::string what) {
    return {Errc::invalid_argument, 0, std::move(what)};
}

Result<std::vector<NodeId>> read_ids(const std::vector<std::string>& values) {
    std::vector<NodeId> ids;
    for (const std::string& value : values) {
        PROMTACT_TRY_ASSIGN(const NodeId id, parse_u64(value));
        if (id == no_node) return bad("member 0 is nobody");
        ids.push_back(id);
    }
    return ids;
}

Result<std::vector<NodeId>> ids_of(const Stanza& stanza, std::string_view key) {
    const Argument* argument = stanza.find(key);
    if (argument == nullptr) return std::vector<NodeId>{};
    return read_ids(argument->values);
}

/// The arguments without a value that are numbers.
Result<std::vector<NodeId>> plain_ids(const Stanza& stanza) {
    std::vector<std::string> words;
    for (const Argument& argument : stanza.arguments)
        if (argument.values.empty()) words.push_back(argument.key);
    return read_ids(words);
}

Result<std::uint64_t>
number_of(const Stanza& stanza, std::string_view key, std::uint64_t otherwise) {
    const Argument* argument = stanza.find(key);
    if (argument == nullptr || argument->values.size() != 1) return otherwise;
    return parse_u64(argument->values.front());
}

bool is_true(const Stanza& stanza, std::string_view key) {
    const Argument* argument = stanza.find(key);
    return argument != nullptr && argument->values == std::vector<std::string>{"true"};
}

struct TypeName {
    std::string_view name{};
    MessageType type{};
};
constexpr std::array type_names{
    TypeName{"MsgPreVote", MessageType::pre_vote},
    TypeName{"MsgPreVoteResp", MessageType::pre_vote_reply},
    TypeName{"MsgVote", MessageType::vote},
    TypeName{"MsgVoteResp", MessageType::vote_reply},
    TypeName{"MsgApp", MessageType::append},
    TypeName{"MsgAppResp", MessageType::append_reply},
    TypeName{"MsgHeartbeat", MessageType::heartbeat},
    TypeName{"MsgHeartbeatResp", MessageType::heartbeat_reply},
    TypeName{"MsgSnap", MessageType::snapshot},
    TypeName{"MsgTimeoutNow", MessageType::timeout_now}};

Result<std::optional<MessageType>> type_of(const Stanza& stanza) {
    const Argument* argument = stanza.find("type");
    if (argument == nullptr || argument->values.empty()) return std::optional<MessageType>{};
    for (const TypeName& row : type_names)
        if (row.name == argument->values.front()) return std::optional(row.type);
    return bad("message type " + argument->values.front() + " is not known");
}

/// As etcd's test environment sets its nodes up; nobody stands for election by himself, since who
/// does depends on how timeouts are drawn.
Result<Options> options_of(const Stanza& stanza) {
    Options options;
    options.election_ticks = election_ticks;
    options.heartbeat_ticks = 1;
    options.priority = 100;
    options.stall_ticks = 0;
    options.trailing_entries = 0;
    options.pre_vote = is_true(stanza, "prevote");
    options.check_quorum = is_true(stanza, "checkquorum");
    PROMTACT_TRY_ASSIGN(
        const std::uint64_t window, number_of(stanza, "inflight", options.inflight_messages));
    options.inflight_messages = static_cast<std::uint32_t>(std::min<std::uint64_t>(window, 1024));
    return options;
}

} // namespace

Result<void> InteractionRunner::add_nodes(const Stanza& stanza) {
    PROMTACT_TRY_ASSIGN(const auto counts, plain_ids(stanza));
    if (counts.size() != 1 || counts[0] + cluster_.size() > nodes_max)
        return bad("how many nodes to add is not clear");
    NodePlan plan;
    PROMTACT_TRY_ASSIGN(plan.voters, ids_of(stanza, "voters"));
    PROMTACT_TRY_ASSIGN(plan.learners, ids_of(stanza, "learners"));
    PROMTACT_TRY_ASSIGN(plan.index, number_of(stanza, "index", 0));
    PROMTACT_TRY_ASSIGN(plan.options, options_of(stanza));
    if (const Argument* content = stanza.find("content");
        content != nullptr && !content->values.empty())
        plan.content = content->values.front();
    // With leases etcd's does not forget: somebody may count on it.
    if (const Argument* reads = stanza.find("read-only");
        reads != nullptr && !reads->values.empty())
        lease_reads_ = reads->values.front() == "lease-based";
    plan.asynchronous = is_true(stanza, "async-storage-writes");
    for (std::uint64_t i = 0; i < counts[0]; ++i)
        PROMTACT_TRY(cluster_.add(plan));
    return {};
}

Result<void> InteractionRunner::deliver(const Stanza& stanza) {
    PROMTACT_TRY_ASSIGN(const auto type, type_of(stanza));
    PROMTACT_TRY_ASSIGN(const auto receivers, plain_ids(stanza));
    PROMTACT_TRY_ASSIGN(const auto drops, ids_of(stanza, "drop"));
    for (const NodeId id : receivers)
        cluster_.deliver(id, type, false);
    for (const NodeId id : drops)
        cluster_.deliver(id, type, true);
    return {};
}

Result<void> InteractionRunner::stabilize(const Stanza& stanza) {
    PROMTACT_TRY_ASSIGN(auto ids, plain_ids(stanza));
    for (NodeId id = 1; stanza.arguments.empty() && id <= cluster_.size(); ++id)
        ids.push_back(id);
    for (const NodeId id : ids) {
        if (cluster_.core(id) == nullptr)
            return bad("node " + std::to_string(id) + " is not there");
    }
    bool moved = true;
    for (std::size_t round = 0; moved; ++round) {
        if (round == rounds_max) return bad("the nodes do not come to rest");
        moved = false;
        for (const NodeId id : ids) {
            if (!cluster_.is_ready(id)) continue;
            cluster_.process(id);
            moved = true;
        }
        for (const NodeId id : ids)
            moved = cluster_.deliver(id, std::nullopt, false) || moved;
        for (const NodeId id : ids)
            moved = cluster_.complete(id) || moved;
    }
    return {};
}

Result<void> InteractionRunner::change_members(const Stanza& stanza) {
    PROMTACT_TRY_ASSIGN(const auto ids, plain_ids(stanza));
    Core* core = ids.size() == 1 ? cluster_.core(ids[0]) : nullptr;
    if (core == nullptr) return bad("which node proposes is not clear");
    ConfigurationChange change;
    PROMTACT_TRY_ASSIGN(change.steps, read_steps(stanza.input));
    if (const Argument* transition = stanza.find("transition");
        transition != nullptr && !transition->values.empty()) {
        if (transition->values.front() == "explicit")
            change.transition = Transition::joint_explicit;
        if (transition->values.front() == "implicit")
            change.transition = Transition::joint_implicit;
    }
    const ProposeResult result = core->propose_config(change, Force::yes);
    // A change that is refused takes a place in etcd's log, as an entry without content.
    if (!result.accepted() && result.status != ProposeStatus::not_leader)
        cluster_.propose(ids[0], "");
    return {};
}

Result<void> InteractionRunner::each(const Stanza& stanza, bool (*move)(Cluster&, NodeId)) {
    PROMTACT_TRY_ASSIGN(const auto ids, plain_ids(stanza));
    for (const NodeId id : ids) {
        if (cluster_.core(id) == nullptr)
            return bad("node " + std::to_string(id) + " is not there");
        move(cluster_, id);
    }
    return {};
}

/// Commands with one node and, some of them, one more word.
Result<void> InteractionRunner::act(const Stanza& stanza, NodeId id) {
    Core& core = *cluster_.core(id);
    const std::string& command = stanza.command;
    const auto word = [&stanza](std::size_t at) {
        return at < stanza.arguments.size() ? stanza.arguments[at].key : std::string();
    };
    if (command == "campaign") {
        core.campaign();
    } else if (command == "propose") {
        cluster_.propose(id, word(1));
    } else if (command == "tick-heartbeat") {
        cluster_.tick(id, 1);
    } else if (command == "tick-election") {
        cluster_.tick(id, election_ticks);
    } else if (command == "set-randomized-election-timeout") {
        PROMTACT_TRY_ASSIGN(const std::uint64_t ticks, number_of(stanza, "timeout", 0));
        cluster_.set_timeout(id, ticks);
    } else if (command == "forget-leader") {
        return lease_reads_ ? Result<void>{} : cluster_.forget_leader(id);
    } else if (command == "send-snapshot") {
        PROMTACT_TRY_ASSIGN(const NodeId to, parse_u64(word(1)));
        if (!cluster_.send_snapshot(id, to)) return bad("there is nothing to send");
    } else if (command == "compact") {
        PROMTACT_TRY_ASSIGN(const Index index, parse_u64(word(1)));
        return cluster_.compact(id, index);
    } else if (command == "report-unreachable") {
        PROMTACT_TRY_ASSIGN(const NodeId other, parse_u64(word(1)));
        core.unreachable(other);
    } else {
        return bad("unknown command " + command);
    }
    return {};
}

Result<void> InteractionRunner::run(const Stanza& stanza) {
    const std::string& command = stanza.command;
    constexpr std::array looking{"log-level", "raft-log", "raft-state", "status"};
    if (std::find(looking.begin(), looking.end(), command) != looking.end()) return {};
    if (command == "add-nodes") return add_nodes(stanza);
    if (command == "deliver-msgs") return deliver(stanza);
    if (command == "stabilize") return stabilize(stanza);
    if (command == "propose-conf-change") return change_members(stanza);
    if (command == "process-apply-thread") return {}; // ours apply as soon as they are told
    if (command == "process-ready") {
        return each(stanza, [](Cluster& cluster, NodeId id) {
            cluster.process(id);
            return true;
        });
    }
    if (command == "process-append-thread")
        return each(stanza, [](Cluster& cluster, NodeId id) { return cluster.complete(id); });
    if (command == "transfer-leadership") {
        PROMTACT_TRY_ASSIGN(const NodeId from, number_of(stanza, "from", 0));
        PROMTACT_TRY_ASSIGN(const NodeId to, number_of(stanza, "to", 0));
        Core* core = cluster_.core(from);
        if (core == nullptr) return bad("who hands over is not clear");
        core->transfer(to);
        return {};
    }
    const auto first = stanza.arguments.empty() ? std::uint64_t{0}
                                                : parse_u64(stanza.arguments[0].key).value_or(0);
    if (cluster_.core(first) == nullptr) return bad("no node for command " + command);
    return act(stanza, first);
}

} // namespace promtact::raft::interaction
