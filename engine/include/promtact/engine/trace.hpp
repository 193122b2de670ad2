// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/engine/event.hpp>

namespace promtact::engine {

/// The hash over all events of a run, and the last few of them for reports.
class Trace {
  public:
    explicit Trace(std::size_t recent) : recent_(recent) {}

    /// Numbers the event, chains it and keeps it for a while.
    Event add(Event event) {
        PROMTACT_ASSERT(event.time >= last_);
        last_ = event.time;
        event.sequence = ++count_;
        fold(hash_, event);
        if (recent_.empty()) return event;
        if (++at_ == recent_.size()) at_ = 0;
        recent_[at_] = event;
        return event;
    }

    [[nodiscard]] const Digest128& value() const noexcept { return hash_.value(); }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// The last events, oldest first.
    [[nodiscard]] std::vector<Event> recent() const {
        std::vector<Event> events;
        const std::uint64_t kept = count_ < recent_.size() ? count_ : recent_.size();
        for (std::uint64_t ago = kept; ago > 0; --ago)
            events.push_back(recent_[(at_ + recent_.size() + 1 - ago) % recent_.size()]);
        return events;
    }

  private:
    TraceHash hash_{};
    std::uint64_t count_ = 0;
    Step last_{};
    std::vector<Event> recent_; // a ring
    std::size_t at_ = 0;        // the last one's place in it
};

/// Is told of every event. message: what the event is about, when it is about one.
template <class Message>
class Observer {
  public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;
    virtual void on_event(const Event& event, const Message* message) = 0;
    /// A node sent the message of that number; what becomes of it are events.
    virtual void on_send(Step, std::uint64_t) {}
    /// A step ended, before its invariants are looked at.
    virtual void on_step(Step) {}
};

} // namespace promtact::engine
