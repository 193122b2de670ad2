// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Two campaigns side by side. Nothing is judged: two hosts, two days and two samples differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <promtact/gates/campaign.hpp>

namespace promtact::gates {

/// One figure that both campaigns have, or that one lacks (then its value is absent).
struct ComparedFigure {
    std::string gate{};
    std::string measurement{};
    std::string figure{}; // "p50", "p99", "value", "ratio"
    std::string unit{};
    std::optional<std::uint64_t> a{};
    std::optional<std::uint64_t> b{}; // for figure "ratio" both are thousandths
};

struct ComparedVerdict {
    std::string gate{};
    std::string a{}; // "absent" when the campaign lacks the gate
    std::string b{};
    bool revisions_differ = false;
};

struct Comparison {
    std::vector<ComparedVerdict> verdicts{};
    std::vector<ComparedFigure> figures{};
    std::vector<std::string> warnings{}; // what makes the two hard to compare
};

/// Verdicts and figures of two campaigns side by side, in the order of a; warnings say why they
/// may not be comparable.
/// Pairs gates and measurements by name, in the order of `a`, then what only `b` has.
Comparison compare_campaigns(const Campaign& a, const Campaign& b);

/// A table for people; ratios are B / A.
std::string comparison_text(const Campaign& a, const Campaign& b, const Comparison& comparison);
std::string comparison_json(const Campaign& a, const Campaign& b, const Comparison& comparison);

} // namespace promtact::gates
