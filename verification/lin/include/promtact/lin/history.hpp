// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What clients did to a store of keys, as operations with a begin and an end.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/history.hpp>
#include <promtact/base/result.hpp>

namespace promtact::lin {

enum class OperationKind : std::uint8_t { read, write, compare_and_set, erase };

/// One operation of one client on one key. An absent key is a value like any other: nullopt.
struct Operation {
    std::uint64_t client = 0;
    std::uint64_t id = 0;
    OperationKind kind = OperationKind::read;
    std::string key{};
    std::optional<std::string> argument{}; // write, compare_and_set: the new value
    std::optional<std::string> expected{}; // compare_and_set: the old one
    /// Whether the answer is known. Unknown: it may have happened at any time since, or never.
    bool answered = false;
    bool succeeded = true;              // compare_and_set: whether it changed the value
    std::optional<std::string> value{}; // read: what was seen
    std::uint64_t begin = 0;            // order of events in the history
    std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

/// Pairs the events of a history. The words of `f` and what `value` holds at invoke and at ok:
///   read   "key"            "value", or nothing for an absent key
///   write  "key value"      -
///   cas    "key old new"    "true" or "false"; old "-" means absent
///   erase  "key"            -
/// An operation that failed for certain is left out. Errors: format, naming the event: unknown
/// words, an answer without its question, a client that asks twice at once.
Result<std::vector<Operation>> operations_of(std::span<const HistoryEvent> events);

} // namespace promtact::lin
