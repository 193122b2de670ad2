// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Keeps the events of a run.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <promtact/sim/session.hpp>

namespace promtact::sim {

/// An event with the words of its message.
struct ToldEvent {
    engine::Event event{};
    std::string words{};
};

/// The last events of a run, with words.
class EventTail final : public EventSink {
  public:
    explicit EventTail(std::size_t most) : most_(most) {}
    [[nodiscard]] bool wants_words() const override { return true; }
    void on_event(const engine::Event& event, std::string_view words) override {
        if (events_.size() == most_) events_.pop_front();
        events_.push_back({event, std::string(words)});
    }
    [[nodiscard]] const std::deque<ToldEvent>& events() const noexcept { return events_; }

  private:
    std::size_t most_;
    std::deque<ToldEvent> events_{};
};

/// All events of a run, up to a number; then only their count goes on.
class EventLog final : public EventSink {
  public:
    explicit EventLog(std::size_t most) : most_(most) {}
    void on_event(const engine::Event& event, std::string_view) override {
        if (events_.size() < most_) events_.push_back(event);
    }
    [[nodiscard]] std::vector<engine::Event>& events() noexcept { return events_; }

  private:
    std::size_t most_;
    std::vector<engine::Event> events_{};
};

/// One line about an event: "step 12  deliver 1->3  promise ballot 6".
std::string line_of(const ToldEvent& told);

} // namespace promtact::sim
