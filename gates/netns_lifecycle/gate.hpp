// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo netns_lifecycle_info;
Result<GateReport> run_netns_lifecycle(const GateContext& context);

} // namespace promtact::gates
