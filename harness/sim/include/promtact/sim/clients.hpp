// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The clients of a scenario's workload: what they ask, whom, and what they saw.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <promtact/base/history.hpp>
#include <promtact/base/scenario.hpp>
#include <promtact/engine/client.hpp>

namespace promtact::sim {

/// A question and whom it is for.
struct ClientCall {
    NodeId node{};
    engine::ClientOperation operation{};
};

/// Clients with one operation at a time each. Choices are functions of the seed, the client and how
/// many operations it had, so that one that is left out moves no other.
class Clients {
  public:
    /// A client that waits longer for an answer takes it for lost: it may have happened or not.
    static constexpr std::uint64_t patience = 200; // steps

    Clients(const Workload& workload, std::uint64_t seed, std::span<const NodeId> nodes);

    /// Notes what was answered at this step, then what is not waited for any longer.
    void hear(std::span<const engine::ClientAnswer> answers, Step now);
    /// What the clients that are free ask now. may(number): whether the operation of that number is
    /// given at all; up(node): whether the node can be asked.
    std::vector<ClientCall>
    ask(Step now, const std::function<bool(std::uint64_t)>& may,
        const std::function<bool(NodeId)>& up);

    /// Operations numbered so far, left out ones too.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t asked() const noexcept { return asked_; }
    [[nodiscard]] std::uint64_t answered() const noexcept { return answered_; }
    [[nodiscard]] const std::vector<HistoryEvent>& history() const noexcept { return history_; }

  private:
    struct Client {
        std::uint64_t name = 0;   // changes after an answer that never came
        std::uint64_t number = 0; // of its operations so far
        std::uint64_t open = 0;   // id of the operation it waits for, 0: none
        Step asked{};
    };
    [[nodiscard]] ClientCall
    next_call(const Client& client, std::size_t index, std::uint64_t id) const;
    void note(const Client& client, HistoryPhase phase, Step now, std::string f, std::string value);

    Workload workload_;
    std::uint64_t seed_;
    std::vector<NodeId> nodes_;
    std::vector<Client> clients_;
    std::uint64_t names_ = 0;
    std::uint64_t count_ = 0;
    std::uint64_t asked_ = 0;
    std::uint64_t answered_ = 0;
    std::vector<HistoryEvent> history_{};
};

/// What is to be said about a history.
struct HistoryReport {
    enum class Verdict : std::uint8_t { none, holds, broken, vacuous, budget_exhausted };
    Verdict verdict = Verdict::none; // none: no clients
    std::string text{};
    std::string key{}; // of the map, where it is broken
};
HistoryReport judge_history(std::span<const HistoryEvent> history);

} // namespace promtact::sim
