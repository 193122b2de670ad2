// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The ladder as one HTML page with inline SVG: opens from a file, needs no network and no script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/ladder.hpp"

namespace promtact::harness::bench {

/// A bar of operations per second for each rung (with the spread of the rounds), and the latency
/// distributions of up to eight rungs, section by section. subtitle: where and when.
std::string ladder_page(const std::vector<SectionResult>& results, std::string_view subtitle);

/// Text with & < > " made safe for HTML.
std::string html_escaped(std::string_view text);

} // namespace promtact::harness::bench
