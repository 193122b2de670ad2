// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Links that carry nothing: split, isolate, link and flap, as one table that is renewed when a
// window opens or closes.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/engine/duration.hpp>
#include <promtact/engine/fate.hpp>
#include <promtact/engine/membership.hpp>
#include <promtact/engine/run_config.hpp>

namespace promtact::engine {

/// Whether faults of this kind stop a link as a whole.
constexpr bool is_cut(FaultKind kind) noexcept {
    return kind == FaultKind::split || kind == FaultKind::isolate || kind == FaultKind::link ||
           kind == FaultKind::flap;
}

/// Which links carry nothing at the present step, and which faults are to blame.
class Cuts {
  public:
    Cuts(const RunConfig& config, const Membership& members)
        : nodes_(members.size()), table_(std::size_t{nodes_} * nodes_, false) {
        for (std::size_t i = 0; i < config.faults.size(); ++i) {
            const Fault& fault = config.faults[i];
            if (!is_cut(fault.kind)) continue;
            Cut cut{
                .fault = fault,
                .id = config.fault_id(i),
                .a = fault.kind == FaultKind::flap ? NodeSet::all_when_empty(members, fault.a)
                                                   : NodeSet(members, fault.a),
                .b = fault.kind == FaultKind::flap ? NodeSet::all_when_empty(members, fault.b)
                                                   : NodeSet(members, fault.b)};
            if (const auto* flap = std::get_if<FlapParams>(&fault.params)) {
                cut.up = in_steps(flap->up, config.tick_ns);
                cut.down = in_steps(flap->down, config.tick_ns);
                cut.phase = in_steps(flap->phase, config.tick_ns);
            }
            cuts_.push_back(std::move(cut));
        }
    }

    /// Brings the table to a step.
    void advance(Step now) {
        bool changed = false;
        for (Cut& cut : cuts_) {
            const bool closed = cut.closed_at(now);
            changed = changed || closed != cut.closed;
            cut.closed = closed;
        }
        if (changed) renew();
    }

    [[nodiscard]] bool blocks(std::uint32_t from, std::uint32_t to) const noexcept {
        PROMTACT_ASSERT(from < nodes_);
        PROMTACT_ASSERT(to < nodes_);
        return table_[std::size_t{from} * nodes_ + to];
    }
    /// Counts for every fault that stops the message; tells of the first. Requires: blocks(from,
    /// to)
    Cause count(std::uint32_t from, std::uint32_t to) noexcept {
        PROMTACT_ASSERT(blocks(from, to));
        Cause first{};
        for (Cut& cut : cuts_) {
            if (!cut.closed || !cut.covers(from, to)) continue;
            ++cut.fired;
            if (first.id == Cause::none) first = {cut.id};
        }
        PROMTACT_ASSERT(first.id != Cause::none);
        return first;
    }

    /// fn(id, fired)
    template <class Fn>
    void each_count(Fn fn) const {
        for (const Cut& cut : cuts_)
            fn(cut.id, cut.fired);
    }

  private:
    struct Cut {
        Fault fault{};
        std::uint32_t id = 0;
        NodeSet a{};
        NodeSet b{};
        std::uint64_t up = 0;
        std::uint64_t down = 0;
        std::uint64_t phase = 0;
        bool closed = false;
        std::uint64_t fired = 0;

        [[nodiscard]] bool closed_at(Step now) const noexcept {
            if (!fault.active(now)) return false;
            if (fault.kind != FaultKind::flap) return true;
            const std::uint64_t cycle = up + down;
            return cycle > 0 && (now - fault.start + phase) % cycle >= up;
        }
        [[nodiscard]] bool covers(std::uint32_t from, std::uint32_t to) const noexcept {
            switch (fault.kind) {
            case FaultKind::split:
                return (a.has(from) && b.has(to)) || (b.has(from) && a.has(to));
            case FaultKind::isolate:
                return a.has(from) || a.has(to);
            default:
                return a.has(from) && b.has(to);
            }
        }
    };

    void renew() {
        for (std::uint32_t from = 0; from < nodes_; ++from) {
            for (std::uint32_t to = 0; to < nodes_; ++to) {
                bool blocked = false;
                for (const Cut& cut : cuts_)
                    blocked = blocked || (cut.closed && cut.covers(from, to));
                table_[std::size_t{from} * nodes_ + to] = blocked;
            }
        }
    }

    std::uint32_t nodes_;
    std::vector<bool> table_;
    std::vector<Cut> cuts_{};
};

} // namespace promtact::engine
