// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What reading and writing a fault share.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <promtact/base/fault.hpp>
#include <promtact/base/json_reader.hpp>

namespace promtact::scenario {

/// What the scenario says besides its faults.
struct FaultContext {
    std::uint64_t nodes = 0; // 0: not known, its own problem is noted already
    std::uint64_t steps = 0;
};

/// One entry of "faults".
Fault read_fault(const JsonValue& value, const FaultContext& context, JsonProblems& problems);

/// What the node lists of a kind are called. An empty name: it has none.
struct NodeFields {
    std::string_view a{};
    std::string_view b{};
    bool required = true; // else a missing list is everybody
};

constexpr NodeFields node_fields(FaultKind kind) noexcept {
    switch (kind) {
    case FaultKind::split:
        return {"a", "b", true};
    case FaultKind::isolate:
    case FaultKind::crash:
    case FaultKind::restart:
    case FaultKind::pause:
    case FaultKind::clock:
    case FaultKind::disk:
        return {"nodes", "", true};
    case FaultKind::link:
        return {"from", "to", true};
    default:
        return {"from", "to", false};
    }
}

/// In the order of DelayShape.
inline constexpr std::array<std::string_view, 5> delay_shapes{
    "fixed", "uniform", "normal", "pareto", "table"};

constexpr std::string_view to_string(DelayShape shape) noexcept {
    return delay_shapes[static_cast<std::size_t>(shape)];
}

} // namespace promtact::scenario
