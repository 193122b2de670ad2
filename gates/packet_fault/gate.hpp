// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo packet_fault_info;
Result<GateReport> run_packet_fault(const GateContext& context);

} // namespace promtact::gates
