// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What `promtact gates` prints.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <promtact/gates/gate.hpp>
#include <promtact/gates/record.hpp>
#include <promtact/gates/runner.hpp>

namespace promtact::harness {

/// "PASS  direct_wal  1,000 records replayed bit-exact  412 ms"; reason and remedy follow on lines
/// of their own unless it passed.
std::string gate_line(const gates::GateRecord& record, std::size_t id_width, bool coloured);

/// "8 passed, 0 failed, 1 grey: link_delay unsupported" and where the results are.
std::string outcome_summary(const gates::RunOutcome& outcome, bool dirty);
std::string outcome_json(const gates::RunOutcome& outcome, bool dirty, int exit_code);

std::string catalog_table(std::span<const gates::GateEntry> catalog);
std::string catalog_json(std::span<const gates::GateEntry> catalog);

/// The newest result in which a gate's control was observed.
struct SeenControl {
    std::string host{};
    std::string campaign{};
    gates::GateRecord record{};
};
std::string explanation(const gates::GateInfo& info, const std::optional<SeenControl>& seen);

std::size_t longest_id(const std::vector<const gates::GateEntry*>& plan);

} // namespace promtact::harness
