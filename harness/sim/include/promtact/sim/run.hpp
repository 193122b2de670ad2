// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A case carried out on a protocol, and what is to be said about it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <promtact/sim/session.hpp>

namespace promtact::sim {

/// How a run went. fail, stuck, invalid and error carry a stop; vacuous only words.
struct RunReport {
    engine::Verdict verdict = engine::Verdict::pass;
    std::string text{}; // why it is no pass
    std::optional<engine::Stop> stop{};
    engine::RunPlace end{};
    engine::RunCounts counts{};
    engine::ChanceCounts chance{};
    std::vector<std::uint64_t> fault_counts{}; // in the order of the scenario
    std::vector<engine::Goals::Goal> goals{};
    std::vector<NodeState> nodes{};
    std::uint64_t commands = 0;
    std::uint64_t restarts = 0;
    ClientsReport clients{};
    /// Written fates that no message asked for, of a case with fates.
    std::size_t fates_unmatched = 0;
};

struct RunOptions {
    EventSink* sink = nullptr;
    /// Sees every fate after the case's own fates, if it has some, were put in place.
    engine::FateEditor* editor = nullptr;
    /// Told after every step with all that belongs to it.
    std::function<void(const Session&)> after_step{};
};

/// Runs the case to its end, or until it stops. What the protocol throws is an error of the report.
/// Requires: protocol.problems(run) finds none
RunReport run_case(const Protocol& protocol, const Case& run, const RunOptions& options = {});

/// What a session shows at its end: its stop, or pass, vacuous when a fault never struck or an
/// expected goal was not reached, fail when the trace is not the expected one.
RunReport report_of(const Case& run, const Session& session);
/// Of a run that could not be carried out.
RunReport error_report(const Case& run, const std::string& text);

/// Runs the case, with whoever else edits fates, and keeps the fates of all messages: what comes
/// back needs no generator any more.
Case with_fates(const Protocol& protocol, const Case& run, engine::FateEditor* editor = nullptr);

/// What a fault is called in reports: "split [1]|[2 3] @[200,700)".
std::string name_of(const Fault& fault);

} // namespace promtact::sim
