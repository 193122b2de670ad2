// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Where a run is, what happened in it, and why it stopped: what all parts of an engine write to.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <promtact/engine/concepts.hpp>
#include <promtact/engine/stop.hpp>
#include <promtact/engine/trace.hpp>

namespace promtact::engine {

template <class Message>
class RunLog {
  public:
    RunLog(std::uint64_t seed, std::size_t recent) : seed_(seed), trace_(recent) {}

    void advance() noexcept { now_ = now_ + 1; }
    [[nodiscard]] Step now() const noexcept { return now_; }

    /// An event about a message, or about none.
    void tell(
        EventKind kind, const Route& route, std::uint64_t number, const Digest128& digest,
        const Message* message) {
        const Event event = trace_.add(
            {.time = now_,
             .kind = kind,
             .from = route.from,
             .to = route.to,
             .message = number,
             .digest = digest});
        if (observer_ != nullptr) observer_->on_event(event, message);
    }
    void sent(std::uint64_t number) {
        if (observer_ != nullptr) observer_->on_send(now_, number);
    }
    void tell_node(EventKind kind, NodeId node) { tell(kind, {node, node}, 0, {}, nullptr); }
    void end_step() {
        if (observer_ != nullptr) observer_->on_step(now_);
    }

    void halt(Verdict verdict, const std::string& text) {
        if (!stop_) stop_ = Stop{.verdict = verdict, .text = text, .place = place()};
    }
    /// A property is broken: fail, or stuck when it is a bound on progress.
    void violate(Verdict verdict, std::string property, Broken broken) {
        PROMTACT_ASSERT(verdict == Verdict::fail || verdict == Verdict::stuck);
        PROMTACT_ASSERT(!property.empty());
        if (stop_) return;
        halt(verdict, broken.text);
        stop_->violation = Violation{
            .property = std::move(property), .broken = std::move(broken), .place = stop_->place};
    }
    [[nodiscard]] const std::optional<Stop>& stop() const noexcept { return stop_; }

    void observe(Observer<Message>* observer) noexcept { observer_ = observer; }
    [[nodiscard]] const Trace& trace() const noexcept { return trace_; }
    [[nodiscard]] RunPlace place() const noexcept {
        return {.seed = seed_, .step = now_, .event = trace_.count(), .trace = trace_.value()};
    }

  private:
    std::uint64_t seed_;
    Trace trace_;
    Step now_{};
    Observer<Message>* observer_ = nullptr;
    std::optional<Stop> stop_{};
};

} // namespace promtact::engine
