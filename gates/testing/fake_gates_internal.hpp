// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A catalog of gates with known behaviour, to test the runner that judges real ones.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <stdlib.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/gates/gate.hpp>

#include "temporary_directory.hpp"

namespace promtact::gates::fakes {

inline constexpr std::chrono::milliseconds ample{20'000};

/// A GateInfo whose texts are filled in.
inline GateInfo fake_info(std::string_view id, std::chrono::milliseconds budget = ample) {
    GateInfo info;
    info.id = id;
    info.tier = Tier::kernel;
    info.title = "a gate for tests";
    info.budget = budget;
    info.establishes = "that the runner works";
    info.does_not_establish = "anything about this host";
    info.control = "turn_it_off";
    info.control_breaks = "the only thing there is";
    info.remedy = "turn it on again";
    return info;
}

/// Its control fails, its body passes.
inline Result<GateReport> well_behaved(const GateContext& context) {
    context.step("look");
    GateReport report;
    report.verdict = context.sabotaged() ? Verdict::fail : Verdict::pass;
    if (context.sabotaged()) report.reason = "it is off";
    report.summary = "1 of 1 things seen";
    Histogram latency;
    for (std::uint64_t i = 1; i <= 100; ++i)
        latency.record(i * 1000);
    report.parameters = {{"operations", std::uint64_t{100}}};
    report.measurements = {{"latency", "ns", "made up by a test", std::move(latency)}};
    context.step("done");
    return report;
}

/// A folder of its own per test, removed at the end.
using Scratch = test_support::TemporaryDirectory;

} // namespace promtact::gates::fakes
