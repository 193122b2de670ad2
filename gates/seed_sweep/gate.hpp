// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo seed_sweep_info;
Result<GateReport> run_seed_sweep(const GateContext& context);

} // namespace promtact::gates
