// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <map>
#include <string_view>

#include <promtact/lin/history.hpp>

namespace promtact::lin {
namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t space = text.find(' ');
        words.emplace_back(text.substr(0, space));
        text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
    }
    return words;
}

Error at_event(std::size_t index, const std::string& why) {
    return {Errc::format, 0, "event " + std::to_string(index + 1) + ": " + why};
}

/// Kind and arguments; false when the words do not fit.
bool read_question(const HistoryEvent& event, Operation& operation) {
    const std::vector<std::string> words = words_of(event.value);
    const auto has = [&](std::string_view f, std::size_t count) {
        return event.f == f && words.size() == count && !words[0].empty();
    };
    if (has("read", 1)) {
        operation.kind = OperationKind::read;
    } else if (has("erase", 1)) {
        operation.kind = OperationKind::erase;
    } else if (has("write", 2)) {
        operation.kind = OperationKind::write;
        operation.argument = words[1];
    } else if (has("cas", 3)) {
        operation.kind = OperationKind::compare_and_set;
        if (words[1] != "-") operation.expected = words[1];
        operation.argument = words[2];
    } else {
        return false;
    }
    operation.key = words[0];
    return true;
}

bool read_answer(const HistoryEvent& event, Operation& operation) {
    operation.answered = true;
    if (operation.kind == OperationKind::compare_and_set) {
        operation.succeeded = event.value == "true";
        return event.value == "true" || event.value == "false";
    }
    if (operation.kind == OperationKind::read && !event.value.empty())
        operation.value = event.value;
    return true;
}

} // namespace

Result<std::vector<Operation>> operations_of(std::span<const HistoryEvent> events) {
    std::vector<Operation> operations;
    std::map<std::uint64_t, std::size_t> open; // client to its operation
    std::vector<bool> dropped;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const HistoryEvent& event = events[i];
        if (event.phase == HistoryPhase::invoke) {
            Operation operation{.client = event.client, .id = event.op_id, .begin = i};
            if (!read_question(event, operation))
                return at_event(i, "\"" + event.f + " " + event.value + "\" is no operation");
            if (!open.emplace(event.client, operations.size()).second) {
                return at_event(
                    i, "client " + std::to_string(event.client) + " asks again without an answer");
            }
            operations.push_back(std::move(operation));
            dropped.push_back(false);
            continue;
        }
        const auto found = open.find(event.client);
        if (found == open.end() || operations[found->second].id != event.op_id) {
            return at_event(
                i, "an answer to client " + std::to_string(event.client) + " without its question");
        }
        Operation& operation = operations[found->second];
        if (event.phase == HistoryPhase::ok) {
            operation.end = i;
            if (!read_answer(event, operation))
                return at_event(i, "the answer of a cas is \"true\" or \"false\"");
        }
        dropped[found->second] = event.phase == HistoryPhase::fail;
        open.erase(found);
    }
    std::vector<Operation> kept;
    for (std::size_t i = 0; i < operations.size(); ++i)
        if (!dropped[i]) kept.push_back(std::move(operations[i]));
    return kept;
}

} // namespace promtact::lin
