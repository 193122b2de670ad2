// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One run of some protocol, without its types: what every command drives.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/engine/fate.hpp>
#include <promtact/engine/network.hpp>
#include <promtact/engine/node_words.hpp>
#include <promtact/engine/plan.hpp>
#include <promtact/engine/progress.hpp>
#include <promtact/engine/stop.hpp>
#include <promtact/sim/case.hpp>
#include <promtact/sim/clients.hpp>
#include <promtact/sim/search.hpp>

namespace promtact::sim {

/// Is told of every event of a run.
class EventSink {
  public:
    EventSink() = default;
    EventSink(const EventSink&) = delete;
    EventSink& operator=(const EventSink&) = delete;
    virtual ~EventSink() = default;

    /// Whether it has use for words about messages; they cost time.
    [[nodiscard]] virtual bool wants_words() const { return false; }
    /// words: of the message, when they are wanted and the wire can describe it.
    virtual void on_event(const engine::Event& event, std::string_view words) = 0;
    /// The message of that number was sent.
    virtual void on_send(Step, std::uint64_t) {}
    /// A step ended.
    virtual void on_step(Step) {}
};

using NodeState = engine::NodeWords;

/// What came of the scenario's workload.
struct ClientsReport {
    std::uint64_t operations = 0; // asked
    std::uint64_t answered = 0;
    HistoryReport history{};
};

/// A run under way. Nothing it does outlasts it.
class Session {
  public:
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    virtual ~Session() = default;

    /// One step with everything that belongs to it: deliveries, properties, commands, restarts.
    /// False once the run has stopped.
    virtual bool step() = 0;
    /// Judges what can be judged at the end only: what clients saw. Call once, after the last step.
    virtual void finish() = 0;

    [[nodiscard]] virtual const std::optional<engine::Stop>& stop() const = 0;
    [[nodiscard]] virtual engine::RunPlace place() const = 0;
    [[nodiscard]] virtual engine::RunCounts counts() const = 0;
    [[nodiscard]] virtual engine::ChanceCounts chance() const = 0;
    [[nodiscard]] virtual std::vector<std::uint64_t> fault_counts() const = 0;
    [[nodiscard]] virtual std::vector<engine::Goals::Goal> goals() const = 0;
    [[nodiscard]] virtual std::vector<NodeState> nodes() const = 0;
    /// Client commands and restarts given so far, left out ones too.
    [[nodiscard]] virtual std::uint64_t commands() const = 0;
    [[nodiscard]] virtual std::uint64_t restarts() const = 0;
    /// What finish() found; nothing of a run without clients.
    [[nodiscard]] virtual ClientsReport clients() const = 0;

    /// Lifetime of both: outlives the session, or is taken back with nullptr.
    virtual void observe(EventSink* sink) = 0;
    virtual void edit_fates(engine::FateEditor* editor) = 0;
};

/// A protocol as the commands know it.
struct Protocol {
    std::string name{};
    engine::Abilities abilities{};
    /// What of the plan the protocol cannot carry out; all of it.
    std::function<std::vector<engine::PlanProblem>(const Case&)> problems{};
    /// A fresh run. Requires: problems() finds none
    std::function<std::unique_ptr<Session>(const Case&)> start{};
    /// Its search of every order of events, or why there is none.
    Searching search{};
};

} // namespace promtact::sim
