// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Messages under way, delivered in the order of (due step, sequence). Near steps have a list each,
// far ones wait in a heap; both together give the order a heap alone would give.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/engine/concepts.hpp>

namespace promtact::engine {

/// A message under way.
template <class Message>
struct InFlight {
    Message message;
    Digest128 digest{};
    Step due{};
    Step sent{};
    std::uint64_t sequence = 0; // of its scheduling, from 1: breaks ties
    std::uint64_t number = 0;   // of the message; a copy has that of the original
    NodeId from{};
    NodeId to{};
};

/// A queue of messages by (due, sequence). A steady run allocates nothing.
template <class Message>
class Schedule {
  public:
    using Entry = InFlight<Message>;

    /// Due steps at most this far ahead have a list of their own.
    static constexpr std::uint64_t horizon = 256;

    /// Requires: entry.due >= the step last given to advance(); entry.sequence above all before
    void push(Entry added) {
        PROMTACT_ASSERT(added.due >= now_);
        const std::uint32_t slot = take(std::move(added));
        const Step due = entry(slot).due;
        if (due.value() - now_.value() < horizon) {
            append(list_of(due), slot);
        } else {
            far_.push_back({due.value(), entry(slot).sequence, slot});
            std::push_heap(far_.begin(), far_.end(), later);
        }
        ++size_;
    }

    /// Time goes on by a step, or not at all. What was due and not taken stays due, before what is
    /// due now.
    void advance(Step now) {
        PROMTACT_ASSERT(now >= now_);
        PROMTACT_ASSERT(now - now_ <= 1);
        if (now == now_) return;
        const List left = std::exchange(list_of(now_), List{});
        now_ = now;
        if (left.first != none) put_before(left, list_of(now_));
        // Steps that came into reach: what the heap holds for them was pushed before anything that
        // will be appended to their lists.
        while (!far_.empty() && far_.front().due - now_.value() < horizon) {
            std::pop_heap(far_.begin(), far_.end(), later);
            const std::uint32_t slot = far_.back().slot;
            far_.pop_back();
            append(list_of(entry(slot).due), slot);
        }
    }

    /// Whether anything is due at the present step.
    [[nodiscard]] bool due() const noexcept { return lists_[now_.value() % horizon].first != none; }
    /// Takes the first that is due. Requires: due()
    Entry pop() {
        List& list = lists_[now_.value() % horizon];
        PROMTACT_ASSERT(list.first != none);
        const std::uint32_t slot = list.first;
        list.first = slots_[slot].next;
        if (list.first == none) list.last = none;
        --size_;
        return give(slot);
    }

    /// Removes what the predicate says, telling of each in the order of delivery.
    template <class Predicate, class Told>
    std::size_t remove_if(Predicate predicate, Told told) {
        std::vector<Entry> gone;
        for (List& list : lists_)
            remove_from(list, predicate, gone);
        for (std::size_t i = 0; i < far_.size();) {
            if (!predicate(entry(far_[i].slot))) {
                ++i;
                continue;
            }
            gone.push_back(give(far_[i].slot));
            far_[i] = far_.back();
            far_.pop_back();
        }
        std::make_heap(far_.begin(), far_.end(), later);
        size_ -= gone.size();
        std::sort(gone.begin(), gone.end(), [](const Entry& a, const Entry& b) {
            return std::pair(a.due, a.sequence) < std::pair(b.due, b.sequence);
        });
        for (const Entry& one : gone)
            told(one);
        return gone.size();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Slot {
        std::optional<Entry> entry{}; // a popped message is destroyed at once: it may own memory
        std::uint32_t next = none;
    };
    struct List {
        std::uint32_t first = none;
        std::uint32_t last = none;
    };
    struct Far {
        std::uint64_t due = 0;
        std::uint64_t sequence = 0;
        std::uint32_t slot = 0;
    };
    static bool later(const Far& a, const Far& b) noexcept {
        return std::pair(a.due, a.sequence) > std::pair(b.due, b.sequence);
    }

    [[nodiscard]] const Entry& entry(std::uint32_t slot) const noexcept {
        PROMTACT_ASSERT(slot < slots_.size());
        PROMTACT_ASSERT(slots_[slot].entry.has_value());
        return *slots_[slot].entry;
    }
    [[nodiscard]] List& list_of(Step due) noexcept { return lists_[due.value() % horizon]; }

    std::uint32_t take(Entry added) {
        if (free_ == none) {
            PROMTACT_ASSERT(slots_.size() < none);
            slots_.push_back({.entry = std::move(added)});
            return static_cast<std::uint32_t>(slots_.size() - 1);
        }
        const std::uint32_t slot = std::exchange(free_, slots_[free_].next);
        slots_[slot].entry.emplace(std::move(added));
        slots_[slot].next = none;
        return slot;
    }
    Entry give(std::uint32_t slot) {
        PROMTACT_ASSERT(slots_[slot].entry.has_value());
        Entry taken = std::move(*slots_[slot].entry);
        slots_[slot].entry.reset();
        slots_[slot].next = std::exchange(free_, slot);
        return taken;
    }
    void append(List& list, std::uint32_t slot) noexcept {
        slots_[slot].next = none;
        if (list.last == none) {
            list.first = slot;
        } else {
            slots_[list.last].next = slot;
        }
        list.last = slot;
    }
    void put_before(const List& earlier, List& list) noexcept {
        if (list.first == none) {
            list = earlier;
            return;
        }
        slots_[earlier.last].next = list.first;
        list.first = earlier.first;
    }
    template <class Predicate>
    void remove_from(List& list, Predicate& predicate, std::vector<Entry>& gone) {
        std::uint32_t slot = std::exchange(list.first, none);
        list.last = none;
        while (slot != none) {
            const std::uint32_t next = slots_[slot].next;
            if (predicate(entry(slot))) {
                gone.push_back(give(slot));
            } else {
                append(list, slot);
            }
            slot = next;
        }
    }

    std::vector<Slot> slots_{};
    std::uint32_t free_ = none; // a list through next
    std::array<List, horizon> lists_{};
    std::vector<Far> far_{}; // a heap, the earliest first
    Step now_{};
    std::size_t size_ = 0;
};

} // namespace promtact::engine
