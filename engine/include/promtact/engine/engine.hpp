// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Drives a cluster under virtual time: every node is ticked, messages travel by seeded chance and
// the faults of the plan, properties are looked at. One seed is one run, bit for bit, on every
// host.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <promtact/engine/client.hpp>
#include <promtact/engine/network.hpp>
#include <promtact/engine/node_states.hpp>
#include <promtact/engine/progress.hpp>

namespace promtact::engine {

template <class C, class W = C>
class Engine {
    static_assert(check_protocol<C, W>());

  public:
    using Message = typename C::Message;

    /// Lifetime: cluster and wire outlive the engine.
    Engine(C& cluster, const W& wire, RunConfig config)
        : cluster_(&cluster), config_(std::move(config)), members_(cluster.nodes()),
          log_(config_.seed, config_.recent_events), network_(wire, config_, members_, log_),
          states_(members_.size()), transitions_(transitions_of(config_)),
          fault_fired_(config_.faults.size()), healed_at_(healed_at(config_)) {
        PROMTACT_ASSERT(members_.size() > 0);
        PROMTACT_ASSERT(config_.cascade_max > 0);
        PROMTACT_ASSERT(
            config_.fault_ids.empty() || config_.fault_ids.size() == config_.faults.size());
    }
    Engine(C& cluster, RunConfig config) requires std::same_as<C, W>
        : Engine(cluster, cluster, std::move(config)) {}
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // --- time ---

    /// One step of virtual time: windows of faults, ticks, deliveries. False once the run has
    /// stopped.
    bool step() {
        return guarded([this] { run_step(); });
    }
    /// step(), then the invariants in the order in which they were added; the first that is broken
    /// stops the run there.
    bool step_checked() { return step() && check(); }
    bool run(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i)
            if (!step()) return false;
        return !stop();
    }
    bool run_checked(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i)
            if (!step_checked()) return false;
        return !stop();
    }
    /// Looks at the invariants without advancing time.
    bool check() {
        return guarded([this] { look_at_invariants(); });
    }
    /// Takes what nodes want to send, after they were driven from outside, at the present step.
    bool collect() {
        return guarded([this] { collect_all(); });
    }

    /// Drives nodes from outside, then collects. What fn throws stops the run.
    template <class Fn>
    bool act(Fn fn) {
        return guarded([&] {
            fn();
            collect_all();
        });
    }

    // --- what is watched, and who takes part ---

    void watch(std::unique_ptr<Invariant> invariant) {
        PROMTACT_ASSERT(invariant != nullptr);
        invariants_.push_back(std::move(invariant));
    }
    void watch(std::string name, std::function<std::optional<Broken>()> function) {
        watch(std::make_unique<InvariantFunction>(std::move(name), std::move(function)));
    }
    /// A bound on progress, judged with the invariants once every fault of the plan has ended;
    /// never where one lasts until the end of the run.
    void expect(Eventually bound) {
        PROMTACT_ASSERT(bound.holds != nullptr);
        bounds_.push_back(std::move(bound));
    }
    [[nodiscard]] Goals& goals() noexcept { return goals_; }
    [[nodiscard]] const Goals& goals() const noexcept { return goals_; }
    /// Asked in the order in which they were added, after the draws.
    void inject(std::unique_ptr<Injector> injector) { network_.inject(std::move(injector)); }
    void inject(std::string name, std::function<bool(const Attempt&)> function) {
        inject(std::make_unique<InjectorFunction>(std::move(name), std::move(function)));
    }
    /// Lifetime: outlives the engine, or is taken back with nullptr.
    void observe(Observer<Message>* observer) noexcept { log_.observe(observer); }
    void edit_fates(FateEditor* editor) noexcept { network_.edit_fates(editor); }

    // --- driving nodes from outside ---

    /// The node loses its memory, and what is under way from and to it.
    bool crash(NodeId node) requires Crashable<C> {
        return guarded([&] { crash_node(index_of(node)); });
    }
    bool restart(NodeId node) requires Crashable<C> {
        return guarded([&] { restart_node(index_of(node)); });
    }
    /// A client asks a node. Requires: the node is up
    bool submit(NodeId node, const ClientOperation& operation) requires Serving<C> {
        return guarded([&] {
            const std::uint32_t index = index_of(node);
            PROMTACT_ASSERT(states_.up(index));
            log_.tell(EventKind::client, {node, node}, 0, digest_of(operation), nullptr);
            cluster_->submit(node, operation);
            drain(index);
        });
    }
    /// What clients were answered since the last call, in order.
    [[nodiscard]] std::vector<ClientAnswer> take_answers() { return std::exchange(answers_, {}); }
    /// A property that is judged outside is broken: the run stops here.
    void violate(std::string property, Broken broken) {
        log_.violate(Verdict::fail, std::move(property), std::move(broken));
    }
    /// Removes what is under way from or to the node; returns how many messages that were.
    std::size_t purge_in_flight(NodeId node) { return network_.purge(members_.id(index_of(node))); }

    // --- what is known ---

    [[nodiscard]] Step now() const noexcept { return log_.now(); }
    [[nodiscard]] const RunConfig& config() const noexcept { return config_; }
    [[nodiscard]] std::size_t under_way() const noexcept { return network_.under_way(); }
    [[nodiscard]] const Digest128& trace() const noexcept { return log_.trace().value(); }
    [[nodiscard]] std::vector<Event> recent() const { return log_.trace().recent(); }
    [[nodiscard]] RunPlace place() const noexcept { return log_.place(); }
    /// Why the run does not go on; nothing while it does.
    [[nodiscard]] const std::optional<Stop>& stop() const noexcept { return log_.stop(); }
    [[nodiscard]] const RunCounts& counts() const noexcept { return network_.counts(); }
    [[nodiscard]] const ChanceCounts& chance() const noexcept { return network_.chance(); }
    [[nodiscard]] bool up(NodeId node) const { return states_.up(index_of(node)); }

    /// How often each fault of the plan struck, in the order of the plan.
    [[nodiscard]] std::vector<std::uint64_t> fault_counts() const {
        std::vector<std::uint64_t> fired = fault_fired_;
        network_.each_fault_count([&](std::uint32_t id, std::uint64_t count) {
            for (std::size_t i = 0; i < fired.size(); ++i)
                if (config_.fault_id(i) == id) fired[i] += count;
        });
        if constexpr (HasDisks<C>) {
            for (std::size_t i = 0; i < fired.size(); ++i) {
                if (config_.faults[i].kind != FaultKind::disk) continue;
                for (const NodeId node : config_.faults[i].a)
                    fired[i] += cluster_->disk(node).fired(config_.fault_id(i));
            }
        }
        return fired;
    }
    /// How often each injector denied a message.
    [[nodiscard]] std::vector<NamedCount> injector_counts() const {
        return network_.injector_counts();
    }

  private:
    // --- the step ---

    void run_step() {
        log_.advance();
        network_.advance();
        for (; next_transition_ < transitions_.size() &&
               transitions_[next_transition_].at <= log_.now();
             ++next_transition_)
            pass(transitions_[next_transition_]);
        for (std::uint32_t node = 0; node < members_.size(); ++node)
            tick(node);
        collect_all();
        std::uint64_t cascade = 0;
        while (!stop() && network_.due()) {
            const auto taken = network_.take();
            arrive(*taken);
            if (++cascade > config_.cascade_max) {
                log_.halt(Verdict::stuck, std::to_string(cascade) + " deliveries within one step");
            }
        }
        log_.end_step();
    }
    void tick(std::uint32_t node) {
        if constexpr (HasDisks<C>) cluster_->disk(members_.id(node)).advance(log_.now());
        if (stop() || !states_.up(node)) return;
        std::uint64_t ticks = states_.ticks(node);
        if (states_.paused(node)) return; // its clock goes on
        const NodeId id = members_.id(node);
        if constexpr (Clocked<C>) {
            const auto tick_ns = static_cast<std::int64_t>(config_.tick_ns);
            cluster_->set_clock(id, states_.shown(node) * tick_ns);
        }
        for (; ticks > 0; --ticks)
            cluster_->tick(id);
    }
    void collect_all() {
        for (std::uint32_t node = 0; node < members_.size(); ++node)
            if (states_.up(node)) drain(node);
    }
    /// A delivery makes its receiver send and nobody else: only that one is asked.
    void drain(std::uint32_t node) {
        cluster_->drain(members_.id(node), outbox_);
        for (Message& message : outbox_.messages())
            if (!stop()) network_.send(node, message);
        outbox_.clear();
        if constexpr (Serving<C>) collect_answers(members_.id(node));
    }
    void collect_answers(NodeId node) {
        const std::size_t known = answers_.size();
        if constexpr (Serving<C>) cluster_->take_answers(node, answers_);
        for (std::size_t i = known; i < answers_.size(); ++i)
            log_.tell(EventKind::answer, {node, node}, 0, digest_of(answers_[i]), nullptr);
    }
    void arrive(InFlight<Message>& entry) {
        const std::uint32_t to = members_.index(entry.to);
        if (!states_.up(to)) return network_.drop(entry);
        if (states_.paused(to)) return network_.hold(std::move(entry));
        if (network_.is_stopped(entry)) return;
        network_.deliver(entry);
        cluster_->deliver(entry.to, std::as_const(entry.message));
        drain(to);
        if (config_.check_each_delivery) look_at_invariants();
    }

    // --- windows of faults of nodes ---

    void pass(const Transition& transition) {
        const Fault& fault = config_.faults[transition.fault];
        log_.tell(
            transition.opens ? EventKind::begin : EventKind::end, {}, 0,
            {.high = 0, .low = config_.fault_id(transition.fault)}, nullptr);
        switch (fault.kind) {
        case FaultKind::crash:
        case FaultKind::restart:
        case FaultKind::pause:
        case FaultKind::clock:
            for (const NodeId id : fault.a)
                strike(fault, transition.opens, index_of(id));
            fault_fired_[transition.fault] += transition.opens ? fault.a.size() : 0;
            return;
        case FaultKind::disk:
            for (const NodeId id : fault.a)
                misbehave(fault, config_.fault_id(transition.fault), transition.opens, id);
            return;
        default:
            return;
        }
    }
    void misbehave(const Fault& fault, std::uint32_t id, bool begins, NodeId node) {
        if constexpr (HasDisks<C>) {
            if (begins) {
                cluster_->disk(node).begin(id, std::get<DiskParams>(fault.params));
            } else {
                cluster_->disk(node).end(id);
            }
            log_.tell(EventKind::disk, {node, node}, 0, {.high = 0, .low = id}, nullptr);
        }
    }
    void strike(const Fault& fault, bool opens, std::uint32_t node) {
        switch (fault.kind) {
        case FaultKind::crash:
            opens ? crash_node(node) : restart_node(node);
            return;
        case FaultKind::restart:
            if (!opens) return;
            crash_node(node);
            restart_node(node);
            return;
        case FaultKind::pause:
            opens ? pause_node(node) : resume_node(node);
            return;
        default:
            change_clock(std::get<ClockParams>(fault.params), opens, node);
            return;
        }
    }
    void crash_node(std::uint32_t node) {
        if constexpr (Crashable<C>) {
            if (!states_.crash(node)) return;
            log_.tell_node(EventKind::crash, members_.id(node));
            if constexpr (HasDisks<C>) cluster_->disk(members_.id(node)).crash();
            cluster_->crash(members_.id(node));
            network_.purge(members_.id(node));
        } else {
            log_.halt(
                Verdict::invalid, "the plan crashes node " +
                                      std::to_string(members_.id(node).value()) +
                                      ", but the cluster has no crash() and restart()");
        }
    }
    void restart_node(std::uint32_t node) {
        if constexpr (Crashable<C>) {
            if (states_.up(node) || !states_.restart(node)) return;
            log_.tell_node(EventKind::restart, members_.id(node));
            cluster_->restart(members_.id(node));
        }
    }
    void pause_node(std::uint32_t node) {
        if (states_.pause(node)) log_.tell_node(EventKind::pause, members_.id(node));
    }
    void resume_node(std::uint32_t node) {
        if (!states_.resume(node)) return;
        log_.tell_node(EventKind::resume, members_.id(node));
        network_.release(members_.id(node));
    }
    void change_clock(const ClockParams& params, bool begins, std::uint32_t node) {
        states_.change_rate(node, begins ? params.rate_ppm : -std::int64_t{params.rate_ppm});
        if (begins && params.jump_ns != 0) {
            PROMTACT_ASSERT(config_.tick_ns > 0);
            states_.jump(node, params.jump_ns / static_cast<std::int64_t>(config_.tick_ns));
        }
        log_.tell_node(EventKind::clock, members_.id(node));
    }

    // --- properties and mistakes ---

    void look_at_invariants() {
        for (const std::unique_ptr<Invariant>& invariant : invariants_) {
            std::optional<Broken> broken = invariant->check();
            if (!broken) continue;
            return log_.violate(Verdict::fail, std::string(invariant->name()), std::move(*broken));
        }
        look_at_bounds();
    }
    void look_at_bounds() {
        if (!healed_at_ || now() < *healed_at_) return;
        for (Eventually& bound : bounds_) {
            bound.reached = bound.reached || bound.holds();
            if (bound.reached || now() - *healed_at_ < bound.within) continue;
            if (bound.expected && !bound.expected()) continue;
            std::string text = "not within " + std::to_string(bound.within) + " steps after step " +
                               std::to_string(healed_at_->value()) + ", when the last fault ended";
            if (bound.explain) text += ": " + bound.explain();
            return log_.violate(Verdict::stuck, bound.name, {.text = std::move(text), .key = {}});
        }
    }
    /// False when the run has stopped, before or by this. What the adapter throws stops it.
    template <class Fn>
    bool guarded(Fn fn) {
        if (stop()) return false;
        try {
            fn();
        } catch (const std::exception& thrown) {
            log_.halt(Verdict::error, std::string("the cluster threw: ") + thrown.what());
        } catch (...) {
            log_.halt(Verdict::error, "the cluster threw something that is no std::exception");
        }
        return !stop();
    }
    [[nodiscard]] std::uint32_t index_of(NodeId node) const {
        const std::uint32_t index = members_.index(node);
        PROMTACT_ASSERT(index != Membership::unknown);
        return index;
    }

    C* cluster_;
    RunConfig config_;
    Membership members_;
    RunLog<Message> log_;
    Network<Message, W> network_;
    NodeStates states_;
    std::vector<Transition> transitions_;
    std::size_t next_transition_ = 0;
    std::vector<std::uint64_t> fault_fired_; // of faults of nodes
    std::optional<Step> healed_at_;
    Outbox<Message> outbox_{};
    std::vector<ClientAnswer> answers_{}; // not taken yet
    std::vector<std::unique_ptr<Invariant>> invariants_{};
    std::vector<Eventually> bounds_{};
    Goals goals_{};
};

} // namespace promtact::engine
