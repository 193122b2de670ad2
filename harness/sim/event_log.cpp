// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/sim/event_log.hpp>

namespace promtact::sim {

std::string line_of(const ToldEvent& told) {
    const engine::Event& event = told.event;
    std::string text =
        "step " + std::to_string(event.time.value()) + "  " + std::string(to_string(event.kind));
    const bool between_nodes = event.message > 0;
    if (between_nodes) {
        text += " " + std::to_string(event.from.value()) + "->" + std::to_string(event.to.value());
    } else if (event.from.value() > 0) {
        text += " " + std::to_string(event.from.value());
    } else if (event.kind == engine::EventKind::begin || event.kind == engine::EventKind::end) {
        text += " of fault " + std::to_string(event.digest.low);
    }
    if (!told.words.empty()) return text + "  " + told.words;
    if (between_nodes) text += "  " + to_hex(event.digest).substr(16);
    return text;
}

} // namespace promtact::sim
