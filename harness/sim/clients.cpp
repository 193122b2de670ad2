// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>

#include <promtact/base/assert.hpp>
#include <promtact/base/choice.hpp>
#include <promtact/lin/check.hpp>
#include <promtact/sim/clients.hpp>

namespace promtact::sim {
namespace {

// Choices about one operation, told apart by the last number of their key.
enum Choice : std::uint64_t { which_command, which_key, which_node, whether_cas, which_expected };
constexpr std::uint64_t choices = 8;

std::string question(const engine::ClientOperation& operation) {
    std::string text = std::to_string(operation.key);
    if (operation.command == engine::ClientCommand::compare_and_set)
        text += " " + (operation.expected ? std::to_string(*operation.expected) : std::string("-"));
    if (operation.command != engine::ClientCommand::read)
        text += " " + std::to_string(operation.value);
    return text;
}

} // namespace

Clients::Clients(const Workload& workload, std::uint64_t seed, std::span<const NodeId> nodes)
    : workload_(workload), seed_(seed), nodes_(nodes.begin(), nodes.end()),
      clients_(workload.clients) {
    PROMTACT_ASSERT(!nodes_.empty());
    for (Client& client : clients_)
        client.name = ++names_;
}

void Clients::note(
    const Client& client, HistoryPhase phase, Step now, std::string f, std::string value) {
    history_.push_back(
        {.client = client.name,
         .op_id = client.open,
         .phase = phase,
         .time_ns = now.value(),
         .f = std::move(f),
         .value = std::move(value)});
}

void Clients::hear(std::span<const engine::ClientAnswer> answers, Step now) {
    for (const engine::ClientAnswer& answer : answers) {
        const auto client = std::find_if(clients_.begin(), clients_.end(), [&](const Client& one) {
            return one.name == answer.client && one.open == answer.id;
        });
        if (client == clients_.end()) continue; // nobody waits for it any longer
        // What was asked stands in the history already.
        const auto asked =
            std::find_if(history_.rbegin(), history_.rend(), [&](const HistoryEvent& event) {
                return event.op_id == answer.id;
            });
        PROMTACT_ASSERT(asked != history_.rend());
        std::string value;
        if (asked->f == "cas") value = answer.succeeded ? "true" : "false";
        if (asked->f == "read" && answer.value) value = std::to_string(*answer.value);
        note(*client, answer.done ? HistoryPhase::ok : HistoryPhase::fail, now, asked->f, value);
        answered_ += answer.done ? 1 : 0;
        client->open = 0;
    }
    for (Client& client : clients_) {
        if (client.open == 0 || now - client.asked < patience) continue;
        note(client, HistoryPhase::info, now, "", "");
        client.open = 0;
        client.name = ++names_;
    }
}

ClientCall Clients::next_call(const Client& client, std::size_t index, std::uint64_t id) const {
    const ChoiceStream stream(seed_, Purpose::workload, index);
    const auto at = [&](Choice choice) { return ChoicePosition{client.number * choices + choice}; };
    engine::ClientOperation operation{.client = client.name, .id = id};
    operation.key = stream.between(at(which_key), 1, workload_.keys);
    if (!stream.chance(at(which_command), workload_.reads)) {
        operation.value = id; // every write is told from every other
        operation.command = engine::ClientCommand::write;
        if (id > 1 && stream.between(at(whether_cas), 0, 3) == 0) {
            operation.command = engine::ClientCommand::compare_and_set;
            operation.expected = stream.between(at(which_expected), 1, id - 1);
        }
    }
    const std::uint64_t node = stream.between(at(which_node), 0, nodes_.size() - 1);
    return {.node = nodes_[static_cast<std::size_t>(node)], .operation = operation};
}

std::vector<ClientCall> Clients::ask(
    Step now, const std::function<bool(std::uint64_t)>& may,
    const std::function<bool(NodeId)>& up) {
    std::vector<ClientCall> calls;
    if (now < workload_.start || now >= workload_.end) return calls;
    for (std::size_t index = 0; index < clients_.size(); ++index) {
        Client& client = clients_[index];
        if (client.open != 0) continue;
        const std::uint64_t id = ++count_;
        const ClientCall call = next_call(client, index, id);
        ++client.number;
        if (!may(id) || !up(call.node)) continue;
        ++asked_;
        client.open = id;
        client.asked = now;
        note(
            client, HistoryPhase::invoke, now, std::string(to_string(call.operation.command)),
            question(call.operation));
        calls.push_back(call);
    }
    return calls;
}

HistoryReport judge_history(std::span<const HistoryEvent> history) {
    using Verdict = HistoryReport::Verdict;
    const auto operations = lin::operations_of(history);
    PROMTACT_ASSERT(operations.has_value()); // we wrote it
    const lin::CheckReport report = lin::check(*operations);
    switch (report.verdict) {
    case lin::Verdict::linearizable:
        return {.verdict = Verdict::holds};
    case lin::Verdict::violation:
        return {.verdict = Verdict::broken, .text = report.text, .key = report.key};
    case lin::Verdict::vacuous:
        return {.verdict = Verdict::vacuous, .text = "clients were answered too little"};
    case lin::Verdict::budget_exhausted:
        break;
    }
    return {.verdict = Verdict::budget_exhausted, .text = report.text};
}

} // namespace promtact::sim
