// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Makes a Protocol of a cluster: the one place where the commands meet your types.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <promtact/engine/engine.hpp>
#include <promtact/sim/session.hpp>
#include <promtact/sim/typed_search.hpp>

namespace promtact::sim {

/// What a run consists of besides the engine. Only make is required.
template <class C>
struct Parts {
    using Engine = engine::Engine<C>;

    /// A cluster of scenario.nodes nodes, their ids from 1.
    std::function<std::unique_ptr<C>(const Scenario&)> make{};
    /// Invariants, bounds on progress and goals, before the first step.
    std::function<void(Engine&, C&)> prepare{};
    /// Gives the cluster a command of a client, as the scenario's proposeEvery says. number: from 1
    std::function<void(Engine&, C&, std::uint64_t number)> propose{};
    /// After every step, before the properties are looked at again.
    std::function<void(Engine&, C&)> after_step{};
    /// Properties, goals and commands of a search of every order of events. Without it, or when the
    /// cluster has no fingerprint() or cannot be copied, there is no such search.
    std::function<void(engine::Explorer<C>&)> prepare_search{};
};

namespace detail {

template <class C>
class TypedSession final : public Session, private engine::Observer<typename C::Message> {
  public:
    using Message = typename C::Message;

    // The parts are shared by all runs of a protocol, which may outlive it.
    TypedSession(std::shared_ptr<const Parts<C>> parts, const Case& run, std::unique_ptr<C> cluster)
        : parts_(std::move(parts)), run_(run), cluster_(std::move(cluster)),
          engine_(*cluster_, config_of(run)) {
        if (parts_->prepare) parts_->prepare(engine_, *cluster_);
        const auto& workload = run_.scenario.workload;
        if (engine::Serving<C> && workload)
            clients_.emplace(*workload, run_.scenario.seed, std::as_const(*cluster_).nodes());
    }

    bool step() override {
        if (!engine_.step_checked()) return false;
        const std::uint64_t now = engine_.now().value();
        if (due(run_.scenario.propose_every, now)) propose();
        if (clients_) serve();
        if (parts_->after_step) engine_.act([this] { parts_->after_step(engine_, *cluster_); });
        if (due(run_.scenario.restart_every, now)) restart();
        return engine_.check();
    }

    void finish() override {
        if (!clients_ || engine_.stop()) return;
        clients_->hear(engine_.take_answers(), engine_.now());
        clients_report_.history = judge_history(clients_->history());
        if (clients_report_.history.verdict != HistoryReport::Verdict::broken) return;
        engine_.violate(
            "what clients saw is linearizable",
            {.text = clients_report_.history.text, .key = "history"});
    }

    [[nodiscard]] const std::optional<engine::Stop>& stop() const override {
        return engine_.stop();
    }
    [[nodiscard]] engine::RunPlace place() const override { return engine_.place(); }
    [[nodiscard]] engine::RunCounts counts() const override { return engine_.counts(); }
    [[nodiscard]] engine::ChanceCounts chance() const override { return engine_.chance(); }
    [[nodiscard]] std::vector<std::uint64_t> fault_counts() const override {
        return engine_.fault_counts();
    }
    [[nodiscard]] std::vector<engine::Goals::Goal> goals() const override {
        return engine_.goals().all();
    }
    [[nodiscard]] std::vector<NodeState> nodes() const override {
        std::vector<NodeState> states;
        for (const NodeId id : std::as_const(*cluster_).nodes()) {
            NodeState state{.id = id, .up = engine_.up(id)};
            if constexpr (engine::DescribesNodes<C>)
                state.words = std::as_const(*cluster_).describe(id);
            states.push_back(std::move(state));
        }
        return states;
    }
    [[nodiscard]] std::uint64_t commands() const override {
        return clients_ ? clients_->count() : commands_;
    }
    [[nodiscard]] ClientsReport clients() const override {
        ClientsReport report = clients_report_;
        report.operations = clients_ ? clients_->asked() : 0;
        report.answered = clients_ ? clients_->answered() : 0;
        return report;
    }
    [[nodiscard]] std::uint64_t restarts() const override { return restarts_; }
    void observe(EventSink* sink) override {
        sink_ = sink;
        engine_.observe(sink == nullptr ? nullptr : this);
    }
    void edit_fates(engine::FateEditor* editor) override { engine_.edit_fates(editor); }

  private:
    static bool due(Ticks every, std::uint64_t now) noexcept {
        return every.value > 0 && now % every.value == 0;
    }
    void propose() {
        const std::uint64_t number = ++commands_;
        if (!parts_->propose || run_.without_commands.count(number) > 0) return;
        engine_.act([&] { parts_->propose(engine_, *cluster_, number); });
    }
    void serve() {
        if constexpr (engine::Serving<C>) {
            clients_->hear(engine_.take_answers(), engine_.now());
            const auto may = [this](std::uint64_t id) {
                return run_.without_commands.count(id) == 0;
            };
            const auto up = [this](NodeId node) { return engine_.up(node); };
            for (const ClientCall& call : clients_->ask(engine_.now(), may, up))
                engine_.submit(call.node, call.operation);
        }
    }
    /// One node after the other.
    void restart() {
        const std::uint64_t number = ++restarts_;
        if (run_.without_restarts.count(number) > 0) return;
        if constexpr (engine::Crashable<C>) {
            const auto ids = std::as_const(*cluster_).nodes();
            const NodeId node = ids[static_cast<std::size_t>(number % ids.size())];
            if (!engine_.up(node)) return;
            engine_.crash(node);
            engine_.restart(node);
        }
    }
    void on_event(const engine::Event& event, const Message* message) override {
        std::string words;
        if constexpr (engine::DescribesMessages<C, Message>) {
            if (message != nullptr && sink_->wants_words())
                words = std::as_const(*cluster_).describe(*message);
        }
        sink_->on_event(event, words);
    }
    void on_send(Step step, std::uint64_t number) override { sink_->on_send(step, number); }
    void on_step(Step step) override { sink_->on_step(step); }

    std::shared_ptr<const Parts<C>> parts_; // shared with the protocol
    Case run_;
    std::unique_ptr<C> cluster_;
    engine::Engine<C> engine_;
    EventSink* sink_ = nullptr;
    std::optional<Clients> clients_{};
    ClientsReport clients_report_{};
    std::uint64_t commands_ = 0;
    std::uint64_t restarts_ = 0;
};

template <class C>
std::vector<engine::PlanProblem>
problems_of(const Parts<C>& parts, const std::string& name, const Case& run) {
    const std::unique_ptr<C> cluster = parts.make(run.scenario);
    const engine::Membership members(std::as_const(*cluster).nodes());
    const engine::RunConfig config = config_of(run);
    auto problems = engine::PlanCheck(config, members, engine::abilities_of<C>()).run();
    const auto say = [&](const std::string& text) {
        problems.push_back({engine::PlanProblem::whole_plan, name + text});
    };
    if (run.scenario.propose_every.value > 0 && !parts.propose)
        say(" takes no client commands (proposeEvery)");
    if (run.scenario.restart_every.value > 0 && !engine::Crashable<C>)
        say(" has no crash() and restart() (restartEvery)");
    if (run.scenario.workload && !engine::Serving<C>) say(" serves no clients (workload)");
    if (run.scenario.workload && run.scenario.propose_every.value > 0)
        say(": proposeEvery and workload exclude each other");
    return problems;
}

} // namespace detail

/// Requires: parts.make. Lifetime: what the parts refer to outlives the protocol.
template <class C>
Protocol protocol(const std::string& name, Parts<C> parts) {
    PROMTACT_ASSERT(parts.make != nullptr);
    // Shared by the functions of the protocol and its runs.
    const auto shared = std::make_shared<const Parts<C>>(std::move(parts));
    return {
        .name = name,
        .abilities = engine::abilities_of<C>(),
        .problems = [shared,
                     name](const Case& run) { return detail::problems_of(*shared, name, run); },
        .start = [shared](const Case& run) -> std::unique_ptr<Session> {
            return std::make_unique<detail::TypedSession<C>>(
                shared, run, shared->make(run.scenario));
        },
        .search = detail::searching_of<C>(shared->make, shared->prepare_search)};
}

} // namespace promtact::sim
