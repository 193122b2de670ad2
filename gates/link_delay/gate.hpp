// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo link_delay_info;
Result<GateReport> run_link_delay(const GateContext& context);

} // namespace promtact::gates
