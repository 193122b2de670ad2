// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo durable_write_file_info;
Result<GateReport> run_durable_write_file(const GateContext& context);

} // namespace promtact::gates
