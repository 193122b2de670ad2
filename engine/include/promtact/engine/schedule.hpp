// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Messages under way, delivered in the order of (due step, sequence): a wheel of two levels for
// what is due soon and a heap behind it, which together give the order a heap alone would give.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/engine/concepts.hpp>
#include <promtact/engine/slot_lists.hpp>
#include <promtact/engine/slot_pool.hpp>

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

/// A queue of messages by (due, sequence). A steady run allocates nothing, and a message is moved
/// once, when it is pushed: it is delivered where it lies.
///
/// Time is cut into blocks of steps. The present block and the next have a list per step, the
/// blocks after those a list each, and what is due later still waits in a heap. A list is only ever
/// appended to in the order of sequences, whether by push() or from the blocks and the heap behind
/// it, which are emptied before anything is pushed to the steps they held.
template <class Message>
class Schedule {
  public:
    using Entry = InFlight<Message>;

    static constexpr std::uint64_t block = 128;  // steps
    static constexpr std::uint64_t blocks = 256; // that have a list
    /// Steps at most this far ahead never wait in the heap.
    static constexpr std::uint64_t horizon = block * blocks;

    /// A message that was taken. It stays where it lay until this is destroyed, whatever is pushed
    /// meanwhile.
    class Taken {
      public:
        Taken(const Taken&) = delete;
        Taken& operator=(const Taken&) = delete;
        ~Taken() { schedule_->give_back(slot_); }
        Entry& operator*() const noexcept { return *schedule_->pool_[slot_]; }
        Entry* operator->() const noexcept { return schedule_->pool_[slot_]; }

      private:
        friend Schedule;
        Taken(Schedule& schedule, std::uint32_t slot) noexcept
            : schedule_(&schedule), slot_(slot) {}
        Schedule* schedule_;
        std::uint32_t slot_;
    };

    /// Requires: added.due >= the step last given to advance(); added.sequence above all before
    void push(Entry&& added) {
        PROMTACT_ASSERT(added.due >= now_);
        const Step due = added.due;
        const std::uint64_t sequence = added.sequence;
        const std::uint32_t slot = pool_.put(std::move(added));
        const std::uint64_t ahead = block_of(due) - block_of(now_);
        if (ahead <= 1) {
            lists_.append(list_of(due), {slot, 0});
        } else if (ahead <= blocks + 1) {
            lists_.append(list_of_block(block_of(due)), {slot, place_of(due)});
        } else {
            far_.push_back({due.value(), sequence, slot});
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
        const bool enters = block_of(now) != block_of(now_);
        now_ = now;
        if (enters) reach_further();
        lists_.put_before(left, list_of(now_));
    }

    /// Whether anything is due at the present step.
    [[nodiscard]] bool due() const noexcept { return !steps_[place_of(now_)].empty(); }
    /// Takes the first that is due. Requires: due()
    Taken take() noexcept {
        List& list = list_of(now_);
        const std::uint32_t slot = lists_.pop(list).slot;
        // Under way while this one is delivered: a run with much under way waits for memory more
        // than for anything else.
        const std::uint32_t soon = lists_.peek(list, fetch_ahead);
        if (soon != none) pool_.fetch(soon);
        --size_;
        return {*this, slot};
    }

    /// Removes what the predicate says, telling of each in the order of delivery.
    template <class Predicate, class Told>
    std::size_t remove_if(Predicate predicate, Told told) {
        std::vector<std::uint32_t> gone;
        for (List& list : steps_)
            remove_from(list, predicate, gone);
        for (List& list : blocks_)
            remove_from(list, predicate, gone);
        std::erase_if(far_, [&](const Far& one) {
            if (!predicate(std::as_const(*pool_[one.slot]))) return false;
            gone.push_back(one.slot);
            return true;
        });
        std::make_heap(far_.begin(), far_.end(), later);
        std::sort(gone.begin(), gone.end(), [this](std::uint32_t a, std::uint32_t b) {
            return std::pair(pool_[a]->due, pool_[a]->sequence) <
                   std::pair(pool_[b]->due, pool_[b]->sequence);
        });
        size_ -= gone.size();
        for (const std::uint32_t slot : gone) {
            const Taken taken(*this, slot);
            told(std::as_const(*pool_[slot]));
        }
        return gone.size();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

  private:
    static constexpr std::uint32_t none = SlotPool<Entry>::none;
    static constexpr std::uint64_t near = 2 * block; // steps that have a list
    static constexpr std::uint32_t fetch_ahead = 2;
    using List = SlotLists::List;

    struct Far {
        std::uint64_t due = 0;
        std::uint64_t sequence = 0;
        std::uint32_t slot = 0;
    };
    static bool later(const Far& a, const Far& b) noexcept {
        return std::pair(a.due, a.sequence) > std::pair(b.due, b.sequence);
    }
    static std::uint64_t block_of(Step step) noexcept { return step.value() / block; }
    static std::uint32_t place_of(Step due) noexcept {
        return static_cast<std::uint32_t>(due.value() % near);
    }
    [[nodiscard]] List& list_of(Step due) noexcept { return steps_[place_of(due)]; }
    [[nodiscard]] List& list_of_block(std::uint64_t number) noexcept {
        return blocks_[number % blocks];
    }

    /// A block has begun: the next one gets a list per step, and the one that comes into reach
    /// takes what the heap holds for it.
    void reach_further() {
        const std::uint64_t present = block_of(now_);
        List& coming = list_of_block(present + 1);
        while (!coming.empty()) {
            const SlotLists::Item item = lists_.pop(coming);
            lists_.append(steps_[item.word], item);
        }
        while (!far_.empty() && far_.front().due / block <= present + blocks + 1) {
            std::pop_heap(far_.begin(), far_.end(), later);
            const Step due(far_.back().due);
            lists_.append(list_of_block(block_of(due)), {far_.back().slot, place_of(due)});
            far_.pop_back();
        }
    }
    void give_back(std::uint32_t slot) noexcept { pool_.give_back(slot); }
    template <class Predicate>
    void remove_from(List& list, Predicate& predicate, std::vector<std::uint32_t>& gone) {
        List all = std::exchange(list, List{});
        while (!all.empty()) {
            const SlotLists::Item item = lists_.pop(all);
            if (predicate(std::as_const(*pool_[item.slot]))) {
                gone.push_back(item.slot);
            } else {
                lists_.append(list, item);
            }
        }
    }

    SlotPool<Entry> pool_{};
    SlotLists lists_{};
    std::array<List, near> steps_{};    // by step % near
    std::array<List, blocks> blocks_{}; // by block % blocks
    std::vector<Far> far_{};            // a heap, the earliest first
    Step now_{};
    std::size_t size_ = 0;
};

} // namespace promtact::engine
