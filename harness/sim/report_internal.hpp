// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the commands print.
#pragma once

#include <deque>
#include <span>
#include <string>

#include <promtact/base/json_writer.hpp>
#include <promtact/sim/event_log.hpp>
#include <promtact/sim/run.hpp>
#include <promtact/sim/shrink.hpp>

namespace promtact::sim {

/// Scenario, seed, counts, goals, one line a fault, trace, verdict.
std::string text_of(const std::string& protocol, const Case& run, const RunReport& report);
/// Why it stopped, the last events, the nodes, and the command that shows it again.
std::string failure_text(
    const RunReport& report, const std::deque<ToldEvent>& events, const std::string& command);
/// The same as the fields of an object that is open.
void write_report(
    JsonWriter& json, const std::string& protocol, const Case& run, const RunReport& report);
void write_failure(
    JsonWriter& json, const RunReport& report, const std::deque<ToldEvent>& events,
    const std::string& command);

/// What the nodes say of themselves, as the field "nodes" of an object that is open.
void write_nodes(JsonWriter& json, std::span<const NodeState> nodes);
/// How often each goal was reached, as the field "goals" of an object that is open.
void write_goals(JsonWriter& json, std::span<const engine::Goals::Goal> goals);

/// "faults 7 -> 2, commands 30 -> 1, ..."
std::string sizes_text(const CaseSize& before, const CaseSize& after);
/// The run in a few sentences: its faults, the messages that were lost or late, how it ended.
std::string story_of(const Protocol& protocol, const Recording& recording);

/// The exit code of a verdict.
int exit_of(engine::Verdict verdict) noexcept;
/// A word as a shell takes it.
std::string for_shell(const std::string& word);

} // namespace promtact::sim
