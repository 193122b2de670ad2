// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <promtact/gates/gate.hpp>

namespace promtact::gates {

extern const GateInfo crash_images_info;
Result<GateReport> run_crash_images(const GateContext& context);

} // namespace promtact::gates
