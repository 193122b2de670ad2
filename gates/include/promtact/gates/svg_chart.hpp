// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Self-contained SVG pictures of latency histograms, drawn with integers alone: the same histogram
// gives the same bytes under every compiler and libm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/histogram.hpp>

namespace promtact::gates {

/// Bars over a logarithmic axis with p50, p99 and p99.9 marked. Requires: histogram.count() > 0
std::string
histogram_svg(const Histogram& histogram, std::string_view title, std::string_view unit);

struct Curve {
    std::string name{};
    const Histogram* histogram = nullptr;
};
/// Cumulative distributions over one logarithmic axis, the last curve on top and strongest.
/// Requires: 1 .. 8 curves, none empty
std::string
cdf_svg(const std::vector<Curve>& curves, std::string_view title, std::string_view unit);

} // namespace promtact::gates
