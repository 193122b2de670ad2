// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo bpf_load_info;
Result<GateReport> run_bpf_load(const GateContext& context);

} // namespace promtact::gates
