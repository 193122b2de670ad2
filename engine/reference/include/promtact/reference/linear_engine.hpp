// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The same runs by the slowest means that can be read at a glance: one list of messages, searched
// from end to end for the next. It shares the choice function, the concepts and the fold of the
// trace with the engine and nothing else, so that what both agree on is not one mistake made once.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/base/fault.hpp>
#include <promtact/base/trace_hash.hpp>
#include <promtact/engine/concepts.hpp>
#include <promtact/engine/event.hpp>

namespace promtact::engine::reference {

/// The part of a run that the reference knows: chance, cuts and crashes.
struct LinearConfig {
    std::uint64_t seed = 0;
    std::uint32_t drop_ppm = 0;
    std::uint64_t max_delay = 0;
    std::uint32_t duplicate_ppm = 0;
    std::vector<Fault> faults{}; // split, isolate, link, crash
};

/// Drives a cluster as Engine does, from one queue that every step searches from end to end.
/// Lifetime: cluster and wire outlive it.
template <class C, class W = C>
class LinearEngine {
  public:
    using Message = typename C::Message;

    LinearEngine(C& cluster, const W& wire, LinearConfig config)
        : cluster_(cluster), wire_(wire), config_(std::move(config)) {}

    void step() {
        ++now_;
        windows(false); // what ends
        windows(true);  // what begins
        for (const NodeId node : cluster_.nodes())
            if (down_.count(node) == 0) cluster_.tick(node);
        collect();
        for (std::size_t next = due(); next < list_.size(); next = due()) {
            const Flight flight = std::move(list_[next]);
            list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(next));
            arrive(flight);
        }
    }
    void collect() {
        for (const NodeId node : cluster_.nodes())
            if (down_.count(node) == 0) drain(node);
    }
    void crash(NodeId node) {
        if (down_[node]++ > 0) return;
        note(EventKind::crash, node, node, 0, {});
        cluster_.crash(node);
        purge(node);
    }
    void restart(NodeId node) {
        if (down_.count(node) == 0 || --down_[node] > 0) return;
        down_.erase(node);
        note(EventKind::restart, node, node, 0, {});
        cluster_.restart(node);
    }

    [[nodiscard]] std::uint64_t now() const { return now_; }
    [[nodiscard]] Digest128 trace() const { return trace_.value(); }
    [[nodiscard]] std::size_t under_way() const { return list_.size(); }

  private:
    struct Flight {
        Message message;
        Digest128 digest{};
        std::uint64_t due = 0;
        std::uint64_t sent = 0;
        std::uint64_t sequence = 0;
        std::uint64_t number = 0;
        NodeId from{};
        NodeId to{};
    };

    /// Index of the first that is due; list_.size() when none is.
    std::size_t due() const {
        std::size_t best = list_.size();
        for (std::size_t i = 0; i < list_.size(); ++i) {
            if (list_[i].due > now_) continue;
            if (best == list_.size() || std::pair(list_[i].due, list_[i].sequence) <
                                            std::pair(list_[best].due, list_[best].sequence))
                best = i;
        }
        return best;
    }
    void windows(bool opening) {
        for (std::size_t i = 0; i < config_.faults.size(); ++i) {
            const Fault& fault = config_.faults[i];
            // A run begins with step 1: what starts at 0 starts there.
            const Step begin = fault.start == Step(0) ? Step(1) : fault.start;
            if (fault.end <= begin || (opening ? begin : fault.end) != Step(now_)) continue;
            note(opening ? EventKind::begin : EventKind::end, NodeId{}, NodeId{}, 0, {0, i});
            if (fault.kind != FaultKind::crash) continue;
            for (const NodeId node : fault.a)
                opening ? crash(node) : restart(node);
        }
    }
    void drain(NodeId node) {
        Outbox<Message> outbox;
        cluster_.drain(node, outbox);
        for (const Message& message : outbox.messages())
            send(message);
    }
    void send(const Message& message) {
        const Route route = wire_.route(message);
        const std::uint64_t number = ++sent_;
        const std::uint64_t link = promtact_link(route.from.value(), route.to.value());
        auto& [time, ordinal] = ordinals_[link];
        if (time != now_) ordinal = 0;
        time = now_;
        const std::uint64_t position = promtact_position(now_, ordinal++);
        const Digest128 digest = wire_.digest(message);
        const auto chance = [&](promtact_u32 purpose, std::uint32_t ppm) {
            return ppm > 0 && promtact_chance(
                                  promtact_choose(config_.seed, purpose, link, position), ppm) != 0;
        };
        if (chance(PROMTACT_PURPOSE_LOSS, config_.drop_ppm))
            return note(EventKind::lose, route.from, route.to, number, digest);
        if (cut(route.from, route.to))
            return note(EventKind::cut, route.from, route.to, number, digest);
        if (chance(PROMTACT_PURPOSE_DUPLICATE, config_.duplicate_ppm)) {
            note(EventKind::duplicate, route.from, route.to, number, digest);
            enqueue(message, digest, number, delay(link, position | std::uint64_t{1} << 63));
        }
        enqueue(message, digest, number, delay(link, position));
    }
    std::uint64_t delay(std::uint64_t link, std::uint64_t position) const {
        if (config_.max_delay == 0) return 0;
        return ChoiceStream(config_.seed, Purpose::delay, link)
            .between({position}, 0, config_.max_delay);
    }
    void enqueue(
        const Message& message, const Digest128& digest, std::uint64_t number, std::uint64_t wait) {
        const Route route = wire_.route(message);
        list_.push_back(
            {message, digest, now_ + wait, now_, ++sequence_, number, route.from, route.to});
    }
    void arrive(const Flight& flight) {
        if (down_.count(flight.to) > 0)
            return note(EventKind::purge, flight.from, flight.to, flight.number, flight.digest);
        if (flight.sent != now_ && cut(flight.from, flight.to))
            return note(EventKind::cut, flight.from, flight.to, flight.number, flight.digest);
        note(EventKind::deliver, flight.from, flight.to, flight.number, flight.digest);
        cluster_.deliver(flight.to, flight.message);
        collect(); // everybody, where the engine asks the receiver alone
    }
    bool cut(NodeId from, NodeId to) const {
        const auto has = [](const std::vector<NodeId>& nodes, NodeId node) {
            for (const NodeId one : nodes)
                if (one == node) return true;
            return false;
        };
        for (const Fault& fault : config_.faults) {
            if (!fault.active(Step(now_))) continue;
            const bool across = has(fault.a, from) && has(fault.b, to);
            const bool back = has(fault.b, from) && has(fault.a, to);
            if (fault.kind == FaultKind::split && (across || back)) return true;
            if (fault.kind == FaultKind::link && across) return true;
            if (fault.kind == FaultKind::isolate && (has(fault.a, from) || has(fault.a, to)))
                return true;
        }
        return false;
    }
    void purge(NodeId node) {
        std::map<std::pair<std::uint64_t, std::uint64_t>, Flight> gone;
        std::vector<Flight> kept;
        for (Flight& flight : list_) {
            if (flight.from == node || flight.to == node) {
                gone.emplace(std::pair(flight.due, flight.sequence), std::move(flight));
            } else {
                kept.push_back(std::move(flight));
            }
        }
        list_ = std::move(kept);
        for (const auto& [order, flight] : gone)
            note(EventKind::purge, flight.from, flight.to, flight.number, flight.digest);
    }
    void
    note(EventKind kind, NodeId from, NodeId to, std::uint64_t number, const Digest128& digest) {
        fold(
            trace_, {.time = Step(now_),
                     .kind = kind,
                     .from = from,
                     .to = to,
                     .message = number,
                     .digest = digest});
    }

    C& cluster_;
    const W& wire_;
    LinearConfig config_;
    std::uint64_t now_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t sequence_ = 0;
    std::vector<Flight> list_{};
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> ordinals_{};
    std::map<NodeId, std::uint32_t> down_{};
    TraceHash trace_{};
};

} // namespace promtact::engine::reference
