// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <string>

#include <promtact/sim/sweep.hpp>

namespace promtact::sim {

/// What a sweep found, for people.
std::string text_of(const SweepReport& report);

} // namespace promtact::sim
