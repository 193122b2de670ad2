// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What happened in a run, one plain value per event: what the trace hash chains, recordings keep
// and the viewer shows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <promtact/base/choice.h>
#include <promtact/base/fault.hpp>
#include <promtact/base/trace_hash.hpp>

namespace promtact::engine {

/// Append only: the numbers are part of trace hashes.
enum class EventKind : std::uint8_t {
    deliver = 0,   // the receiver got it
    lose = 1,      // vanished by chance or by a fault of the link
    cut = 2,       // stopped by a partition or an injector, at its sending or its arrival
    duplicate = 3, // a copy goes its own way
    corrupt = 4,   // arrives changed
    purge = 5,     // was under way when its sender or receiver went down
    crash = 6,
    restart = 7,
    pause = 8,
    resume = 9,
    clock = 10, // a node's clock jumped or changed its rate
    begin = 11, // a fault's window
    end = 12,
    client = 13, // an operation of a client was given to the cluster
    answer = 14, // and answered
    disk = 15,   // a disk fault struck
};

inline constexpr std::array all_event_kinds{
    EventKind::deliver, EventKind::lose,   EventKind::cut,    EventKind::duplicate,
    EventKind::corrupt, EventKind::purge,  EventKind::crash,  EventKind::restart,
    EventKind::pause,   EventKind::resume, EventKind::clock,  EventKind::begin,
    EventKind::end,     EventKind::client, EventKind::answer, EventKind::disk,
};

constexpr std::string_view to_string(EventKind kind) noexcept {
    constexpr std::array<std::string_view, all_event_kinds.size()> names{
        "deliver", "lose",   "cut",   "duplicate", "corrupt", "purge",  "crash",  "restart",
        "pause",   "resume", "clock", "begin",     "end",     "client", "answer", "disk"};
    return names[static_cast<std::size_t>(kind)];
}

struct Event {
    std::uint64_t sequence = 0; // of the event in its run, from 1
    Step time{};
    EventKind kind = EventKind::deliver;
    NodeId from{}; // of a message; else the node it happens to
    NodeId to{};
    std::uint64_t message = 0; // number of the message, from 1; 0 when it is about none
    Digest128 digest{};        // of the message, or what else the event is about
    friend bool operator==(const Event&, const Event&) = default;
};

/// Chains one event. The sequence is implied by the order.
inline void fold(TraceHash& trace, const Event& event) noexcept {
    trace.add<6>(
        {{event.time.value(), static_cast<std::uint64_t>(event.kind),
          promtact_link(event.from.value(), event.to.value()), event.message, event.digest.low,
          event.digest.high}});
}

} // namespace promtact::engine
