// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo direct_wal_info;
Result<GateReport> run_direct_wal(const GateContext& context);

} // namespace promtact::gates
