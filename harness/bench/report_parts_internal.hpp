// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the records of all benchmarks share.
#pragma once

#include <string>
#include <vector>

#include "bench/report.hpp"

namespace promtact::harness::bench {

gates::GateRecord benchmark_record(const Circumstances& circumstances);

/// The point of the interval as `name`, its ends as name_low and name_high.
void add_interval(
    const std::string& name, const RatioInterval& interval, gates::GateRecord& record);
/// The runs of one side as samples.
void add_runs(
    const std::string& side, const std::vector<RunFigures>& runs, gates::GateRecord& record);

} // namespace promtact::harness::bench
