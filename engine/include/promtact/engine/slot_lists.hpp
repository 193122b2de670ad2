// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>

namespace promtact::engine {

/// Many lists of slots that share one pool of cells. A cell holds several slots, so that going
/// through a long list waits for memory once per cell and what comes soon is known ahead.
class SlotLists {
  public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// A slot, and a word of whoever put it there.
    struct Item {
        std::uint32_t slot = none;
        std::uint32_t word = 0;
    };
    class List {
      public:
        [[nodiscard]] bool empty() const noexcept { return head_ == none; }

      private:
        friend SlotLists;
        std::uint32_t head_ = none;
        std::uint32_t tail_ = none;
    };

    void append(List& list, Item item) {
        PROMTACT_ASSERT(item.slot != none);
        if (list.tail_ == none || cells_[list.tail_].end == cell_items) add_cell(list);
        Cell& cell = cells_[list.tail_];
        cell.items[cell.end++] = item;
    }
    /// Requires: !list.empty()
    Item pop(List& list) noexcept {
        PROMTACT_ASSERT(!list.empty());
        Cell& cell = cells_[list.head_];
        const Item item = cell.items[cell.begin++];
        if (cell.begin == cell.end) drop_cell(list);
        return item;
    }
    /// The slot that is to come after `ahead` others, as far as the first two cells tell; none
    /// otherwise.
    [[nodiscard]] std::uint32_t peek(const List& list, std::uint32_t ahead) const noexcept {
        if (list.empty()) return none;
        const Cell& cell = cells_[list.head_];
        const std::uint32_t at = cell.begin + ahead;
        if (at < cell.end) return cell.items[at].slot;
        if (cell.next == none) return none;
        const Cell& second = cells_[cell.next];
        const std::uint32_t rest = second.begin + at - cell.end;
        return rest < second.end ? second.items[rest].slot : none;
    }
    /// All of `earlier` comes before what is in the list.
    void put_before(const List& earlier, List& list) noexcept {
        if (earlier.empty()) return;
        cells_[earlier.tail_].next = list.head_;
        if (list.empty()) list.tail_ = earlier.tail_;
        list.head_ = earlier.head_;
    }

  private:
    static constexpr std::uint16_t cell_items = 15;
    struct alignas(64) Cell { // two lines of memory
        std::array<Item, cell_items> items{};
        std::uint32_t next = none;
        std::uint16_t begin = 0;
        std::uint16_t end = 0;
    };

    void add_cell(List& list) {
        std::uint32_t added = free_;
        if (added == none) {
            PROMTACT_ASSERT(cells_.size() < none);
            added = static_cast<std::uint32_t>(cells_.size());
            cells_.emplace_back();
        } else {
            free_ = std::exchange(cells_[added].next, none);
        }
        if (list.tail_ == none) {
            list.head_ = added;
        } else {
            cells_[list.tail_].next = added;
        }
        list.tail_ = added;
    }
    /// The first cell is used up.
    void drop_cell(List& list) noexcept {
        Cell& cell = cells_[list.head_];
        cell.begin = 0;
        cell.end = 0;
        const std::uint32_t used = std::exchange(list.head_, std::exchange(cell.next, free_));
        free_ = used;
        if (list.head_ == none) {
            list.tail_ = none;
        } else {
            __builtin_prefetch(&cells_[list.head_].next);
            const std::uint32_t second = cells_[list.head_].next;
            if (second != none) __builtin_prefetch(&cells_[second]);
        }
    }

    std::vector<Cell> cells_{};
    std::uint32_t free_ = none; // a list through next
};

} // namespace promtact::engine
