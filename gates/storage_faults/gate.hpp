// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo storage_faults_info;
Result<GateReport> run_storage_faults(const GateContext& context);

} // namespace promtact::gates
