// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo wal_throughput_info;
Result<GateReport> run_wal_throughput(const GateContext& context);

} // namespace promtact::gates
