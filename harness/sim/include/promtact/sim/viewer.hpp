// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A run as one page that a browser opens from a file: no network, nothing else needed.
#pragma once

#include <string>

#include <promtact/sim/run.hpp>

namespace promtact::sim {

/// Runs the case and renders it. again: the command that shows the run once more.
/// Of a longer run the last viewer_events_max events are kept.
std::string render_page(const Protocol& protocol, const Case& run, const std::string& again);
inline constexpr std::size_t viewer_events_max = 200'000;

} // namespace promtact::sim
