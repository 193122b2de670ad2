// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo uring_probe_info;
Result<GateReport> run_uring_probe(const GateContext& context);

} // namespace promtact::gates
