// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/base/kill_point.hpp>
#include <promtact/gates/gate.hpp>

namespace promtact::gates {

std::string_view to_string(Tier tier) noexcept {
    switch (tier) {
    case Tier::kernel:
        return "kernel";
    case Tier::storage:
        return "storage";
    case Tier::network:
        return "network";
    case Tier::protocol:
        return "protocol";
    case Tier::model:
        return "model";
    }
    return "unknown";
}

std::string_view to_string(GateClass gate_class) noexcept {
    return gate_class == GateClass::quick ? "quick" : "full";
}

void GateContext::step(std::string_view what) const {
    if (on_step_) on_step_(what);
    kill_point();
}

} // namespace promtact::gates
