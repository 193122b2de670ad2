// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo engine_equivalence_info;
Result<GateReport> run_engine_equivalence(const GateContext& context);

} // namespace promtact::gates
