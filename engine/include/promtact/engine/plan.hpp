// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Whether a plan of faults can be carried out on a cluster: all problems, not the first.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <promtact/engine/client.hpp>
#include <promtact/engine/concepts.hpp>
#include <promtact/engine/cuts.hpp>
#include <promtact/engine/fates.hpp>
#include <promtact/engine/membership.hpp>
#include <promtact/engine/run_config.hpp>

namespace promtact::engine {

/// What a cluster and its wire offer beyond the least.
struct Abilities {
    bool crash = false;
    bool clock = false;
    bool corrupt = false;
    bool size = false;
    bool disk = false;
    bool serve = false; // clients
};

template <class C, class W = C>
constexpr Abilities abilities_of() {
    using M = typename C::Message;
    Abilities abilities;
    abilities.crash = Crashable<C>;
    abilities.clock = Clocked<C>;
    abilities.corrupt = Corrupting<W, M>;
    abilities.size = Sized<W, M>;
    abilities.serve = Serving<C>;
    abilities.disk = HasDisks<C>;
    return abilities;
}

/// What is wrong with the plan.
struct PlanProblem {
    static constexpr std::size_t whole_plan = ~std::size_t{0};
    std::size_t fault = 0; // index in the plan, or whole_plan
    std::string text{};
};

/// Looks at every fault of a plan.
class PlanCheck {
  public:
    PlanCheck(const RunConfig& config, const Membership& members, const Abilities& abilities)
        : config_(config), members_(members), abilities_(abilities) {}

    std::vector<PlanProblem> run() {
        for (at_ = 0; at_ < config_.faults.size(); ++at_)
            look_at(config_.faults[at_]);
        return std::move(problems_);
    }

  private:
    void say(std::string text) { problems_.push_back({at_, std::move(text)}); }

    void look_at(const Fault& fault) {
        if (!fault.params_fit()) say("its parameters are those of another kind");
        if (fault.end <= fault.start) say("it ends before it begins");
        for (const auto* nodes : {&fault.a, &fault.b}) {
            for (const NodeId id : *nodes) {
                if (members_.index(id) != Membership::unknown) continue;
                say("the cluster has no node " + std::to_string(id.value()));
            }
        }
        if (is_kernel_only(fault.kind)) {
            say(std::string(to_string(fault.kind)) +
                " is of connections and packets; only the kernel runner can do it");
        }
        const bool needs_crash = fault.kind == FaultKind::crash || fault.kind == FaultKind::restart;
        if (needs_crash && !abilities_.crash) say("the cluster has no crash() and restart()");
        if (fault.kind == FaultKind::rate && !abilities_.size)
            say("a rate needs the wire to have size()");
        if (fault.kind == FaultKind::disk && !abilities_.disk) say("the cluster has no disks");
        const auto* delay = std::get_if<DelayParams>(&fault.params);
        if (delay != nullptr && delay->shape == DelayShape::table && delay->quantiles.empty())
            say("its table is empty");
        if (config_.tick_ns == 0 && needs_wall_time(fault))
            say("it is in wall time, and the run does not say how long a step is (tick)");
    }
    static bool is_wall(const FaultDuration& duration) noexcept {
        return duration.unit == FaultDuration::Unit::nanoseconds;
    }
    static bool needs_wall_time(const Fault& fault) {
        if (const auto* delay = std::get_if<DelayParams>(&fault.params)) {
            return is_wall(delay->base) || is_wall(delay->jitter) ||
                   delay->shape == DelayShape::table;
        }
        if (const auto* reorder = std::get_if<ReorderParams>(&fault.params))
            return is_wall(reorder->hold);
        if (const auto* flap = std::get_if<FlapParams>(&fault.params))
            return is_wall(flap->up) || is_wall(flap->down) || is_wall(flap->phase);
        if (const auto* clock = std::get_if<ClockParams>(&fault.params)) return clock->jump_ns != 0;
        if (const auto* disk = std::get_if<DiskParams>(&fault.params)) return is_wall(disk->delay);
        return fault.kind == FaultKind::rate;
    }

    const RunConfig& config_;
    const Membership& members_;
    Abilities abilities_;
    std::size_t at_ = 0;
    std::vector<PlanProblem> problems_{};
};

} // namespace promtact::engine
