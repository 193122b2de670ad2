// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo determinism_twin_info;
Result<GateReport> run_determinism_twin(const GateContext& context);

} // namespace promtact::gates
