// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What clients saw, as plain data: recorded by the service and the simulator, judged by the
// linearizability checker.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace promtact {

/// The life of a client operation, as the linearizability checker needs it.
enum class HistoryPhase : std::uint8_t {
    invoke, // sent
    ok,     // answered yes
    fail,   // did not happen, for certain
    info,   // unknown: may have happened, may still happen
};

constexpr std::string_view to_string(HistoryPhase phase) noexcept {
    constexpr std::array<std::string_view, 4> names{"invoke", "ok", "fail", "info"};
    return names[static_cast<std::size_t>(phase)];
}

constexpr std::optional<HistoryPhase> history_phase_from(std::string_view text) noexcept {
    for (const HistoryPhase phase :
         {HistoryPhase::invoke, HistoryPhase::ok, HistoryPhase::fail, HistoryPhase::info})
        if (to_string(phase) == text) return phase;
    return std::nullopt;
}

struct HistoryEvent {
    std::uint64_t client = 0;
    std::uint64_t op_id = 0; // pairs invoke with its completion
    HistoryPhase phase = HistoryPhase::invoke;
    std::uint64_t time_ns = 0; // one monotonic clock for all clients
    std::string f{};           // "read", "write", "cas"
    std::string value{};       // argument at invoke, answer at ok
    friend bool operator==(const HistoryEvent&, const HistoryEvent&) = default;
};

} // namespace promtact
