// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo direct_io_info;
Result<GateReport> run_direct_io(const GateContext& context);

} // namespace promtact::gates
