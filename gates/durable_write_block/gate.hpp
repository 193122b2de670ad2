// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo durable_write_block_info;
Result<GateReport> run_durable_write_block(const GateContext& context);

} // namespace promtact::gates
