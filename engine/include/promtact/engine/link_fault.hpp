// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One fault of the plan that decides about messages one by one. Its choices come from a seed of its
// own.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include <promtact/base/choice.hpp>
#include <promtact/engine/distribution.hpp>
#include <promtact/engine/duration.hpp>
#include <promtact/engine/fate.hpp>
#include <promtact/engine/membership.hpp>
#include <promtact/engine/run_config.hpp>

namespace promtact::engine {

/// A message that is being sent.
struct Sending {
    Step now{};
    std::uint32_t from = 0; // indices
    std::uint32_t to = 0;
    FateKey key{};
    std::uint64_t bytes = 0; // 0 when the wire does not say
};

/// A fault of the plan with what it remembers of each link.
class LinkFault {
  public:
    /// Requires: the plan was validated
    LinkFault(
        const Fault& fault, std::uint32_t id, const RunConfig& config, const Membership& members)
        : fault_(fault), cause_{id}, tick_ns_(config.tick_ns),
          by_index_(config.key == DecisionKey::index), nodes_(members.size()),
          seed_(promtact_choose(config.seed, PROMTACT_PURPOSE_FAULT, id, 0)),
          from_(NodeSet::all_when_empty(members, fault.a)),
          to_(NodeSet::all_when_empty(members, fault.b)) {
        PROMTACT_ASSERT(fault.params_fit());
        if (has_state()) links_.resize(std::size_t{nodes_} * nodes_);
    }

    /// Adds to the fate of a message. Counts when it changed something.
    void decide(const Sending& sending, Fate& fate) {
        if (!from_.has(sending.from) || !to_.has(sending.to)) return;
        switch (fault_.kind) {
        case FaultKind::loss:
            return apply(std::get<LossParams>(fault_.params), sending, fate);
        case FaultKind::burst:
            return apply(std::get<BurstParams>(fault_.params), sending, fate);
        case FaultKind::delay:
            return apply(std::get<DelayParams>(fault_.params), sending, fate);
        case FaultKind::reorder:
            return apply(std::get<ReorderParams>(fault_.params), sending, fate);
        case FaultKind::duplicate:
            return apply(std::get<DuplicateParams>(fault_.params), sending, fate);
        case FaultKind::corrupt:
            return apply(std::get<CorruptParams>(fault_.params), sending, fate);
        case FaultKind::rate:
            return apply(std::get<RateParams>(fault_.params), sending, fate);
        default:
            PROMTACT_UNREACHABLE(); // the plan was sorted
        }
    }

    [[nodiscard]] const Fault& fault() const noexcept { return fault_; }
    [[nodiscard]] std::uint32_t id() const noexcept { return cause_.id; }
    [[nodiscard]] std::uint64_t fired() const noexcept { return fired_; }

  private:
    /// What is remembered of a link.
    struct Link {
        bool bad = false;                  // burst
        std::uint64_t judged_until = 0;    // burst: steps or messages whose state is known
        std::uint64_t free_at_ns = 0;      // rate: when the last byte leaves
        std::uint64_t in_order_until = 0;  // delay with keep_order
        std::vector<std::uint64_t> held{}; // reorder: when those held back are let go
    };

    [[nodiscard]] bool has_state() const noexcept {
        switch (fault_.kind) {
        case FaultKind::burst:
        case FaultKind::rate:
        case FaultKind::reorder:
        case FaultKind::delay:
            return true;
        default:
            return false;
        }
    }
    [[nodiscard]] Link& link(const Sending& sending) noexcept {
        PROMTACT_ASSERT(!links_.empty());
        return links_[std::size_t{sending.from} * nodes_ + sending.to];
    }
    [[nodiscard]] std::uint64_t bits(Purpose purpose, const FateKey& key) const noexcept {
        return ChoiceStream::on_link(seed_, purpose, key.from.value(), key.to.value())
            .bits({key.position});
    }
    [[nodiscard]] bool chance(Purpose purpose, const FateKey& key, Ppm probability) const noexcept {
        return promtact_chance(bits(purpose, key), probability.value) != 0;
    }
    void lose_by(Fate& fate) noexcept {
        ++fired_;
        if (!fate.is_lost()) fate.lost = cause_;
    }

    void apply(const LossParams& params, const Sending& sending, Fate& fate) {
        if (chance(Purpose::loss, sending.key, params.probability)) lose_by(fate);
    }
    // The state of a link is a function of time, or of the index where that is the key: it does not
    // depend on what else was sent.
    void apply(const BurstParams& params, const Sending& sending, Fate& fate) {
        Link& state = link(sending);
        const std::uint64_t reach = burst_position(sending) + 1;
        for (; state.judged_until < reach; ++state.judged_until) {
            FateKey key = sending.key;
            key.position = state.judged_until;
            const Ppm flip = state.bad ? params.leave_bad : params.enter_bad;
            if (chance(Purpose::burst_state, key, flip)) state.bad = !state.bad;
        }
        const Ppm loss = state.bad ? params.loss_bad : params.loss_good;
        if (chance(Purpose::burst_loss, sending.key, loss)) lose_by(fate);
    }
    [[nodiscard]] std::uint64_t burst_position(const Sending& sending) const noexcept {
        return by_index_ ? sending.key.position : sending.now - fault_.start;
    }
    void apply(const DelayParams& params, const Sending& sending, Fate& fate) {
        const std::uint64_t base = in_steps(params.base, tick_ns_);
        const std::uint64_t jitter = in_steps(params.jitter, tick_ns_);
        const std::uint64_t draw_bits = bits(Purpose::delay, sending.key);
        std::uint64_t steps = base;
        switch (params.shape) {
        case DelayShape::fixed:
            break;
        case DelayShape::uniform: {
            const std::uint64_t low = base > jitter ? base - jitter : 0;
            const auto stream = ChoiceStream::on_link(
                seed_, Purpose::delay, sending.key.from.value(), sending.key.to.value());
            steps = stream.between({sending.key.position}, low, base + jitter);
            break;
        }
        case DelayShape::normal:
            steps = spread(base, jitter, normal_quantiles, draw_bits);
            break;
        case DelayShape::pareto:
            steps = spread(base, jitter, pareto_quantiles, draw_bits);
            break;
        case DelayShape::table:
            steps = in_steps(
                {.unit = FaultDuration::Unit::nanoseconds,
                 .count = draw(params.quantiles, draw_bits)},
                tick_ns_);
            break;
        }
        if (steps > 0) ++fired_;
        fate.delay += steps;
        if (!params.keep_order) return;
        Link& state = link(sending);
        const std::uint64_t due = sending.now.value() + fate.delay;
        if (due < state.in_order_until) fate.delay += state.in_order_until - due;
        state.in_order_until = sending.now.value() + fate.delay;
    }
    void apply(const ReorderParams& params, const Sending& sending, Fate& fate) {
        if (!chance(Purpose::reorder, sending.key, params.probability)) return;
        Link& state = link(sending);
        const std::uint64_t now = sending.now.value();
        std::erase_if(state.held, [now](std::uint64_t until) { return until <= now; });
        if (state.held.size() >= params.held_max) return;
        const std::uint64_t hold = in_steps(params.hold, tick_ns_);
        fate.delay += hold;
        state.held.push_back(now + hold);
        ++fired_;
    }
    void apply(const DuplicateParams& params, const Sending& sending, Fate& fate) {
        if (!chance(Purpose::duplicate, sending.key, params.probability)) return;
        ++fired_;
        if (!fate.is_copied()) fate.copied = cause_;
    }
    void apply(const CorruptParams& params, const Sending& sending, Fate& fate) {
        if (!chance(Purpose::corrupt, sending.key, params.probability)) return;
        ++fired_;
        if (params.detected) {
            if (!fate.is_lost()) fate.lost = cause_; // its checksum no longer fits
            return;
        }
        fate.corrupted = cause_;
        fate.corrupt_bits = bits(Purpose::corrupt_bit, sending.key);
    }
    void apply(const RateParams& params, const Sending& sending, Fate& fate) {
        Link& state = link(sending);
        PROMTACT_ASSERT(tick_ns_ > 0);
        PROMTACT_ASSERT(params.bits_per_second > 0);
        const std::uint64_t now_ns = sending.now.value() * tick_ns_;
        const std::uint64_t begin = state.free_at_ns > now_ns ? state.free_at_ns : now_ns;
        const std::uint64_t queued =
            scaled(begin - now_ns, params.bits_per_second, 8'000'000'000ULL);
        if (queued + sending.bytes > params.queue.value && begin > now_ns) return lose_by(fate);
        const std::uint64_t takes =
            scaled(sending.bytes * 8, 1'000'000'000ULL, params.bits_per_second);
        state.free_at_ns = begin + takes;
        const std::uint64_t steps = (state.free_at_ns - now_ns) / tick_ns_;
        if (steps > 0) ++fired_;
        fate.delay += steps;
    }
    /// value * times / by without overflow.
    static std::uint64_t
    scaled(std::uint64_t value, std::uint64_t times, std::uint64_t by) noexcept {
        __extension__ using Wide = unsigned __int128;
        return static_cast<std::uint64_t>(static_cast<Wide>(value) * times / by);
    }

    Fault fault_;
    Cause cause_;
    std::uint64_t tick_ns_;
    bool by_index_;
    std::uint32_t nodes_;
    std::uint64_t seed_;
    NodeSet from_;
    NodeSet to_;
    std::uint64_t fired_ = 0;
    std::vector<Link> links_{};
};

} // namespace promtact::engine
