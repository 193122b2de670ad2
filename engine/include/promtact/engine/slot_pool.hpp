// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>

namespace promtact::engine {

/// Objects by number, at addresses that hold: the pool grows by chunks, each as large as all before
/// it together, and a number that was given back is used again first.
template <class T>
class SlotPool {
  public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    SlotPool() = default;
    SlotPool(const SlotPool&) = delete;
    SlotPool& operator=(const SlotPool&) = delete;
    ~SlotPool() {
        for (std::uint32_t slot = 0; slot < count_; ++slot)
            if (live(slot)) std::destroy_at(&place(slot).object);
    }

    std::uint32_t put(T&& object) {
        const std::uint32_t slot = free_ != none ? free_ : add();
        Place& place = this->place(slot);
        const std::uint32_t following = place.following;
        std::construct_at(&place.object, std::move(object));
        place.following = used;
        free_ = following;
        return slot;
    }
    /// The object is destroyed at once: it may own memory. Requires: put() gave the slot
    void give_back(std::uint32_t slot) noexcept {
        PROMTACT_ASSERT(live(slot));
        Place& place = this->place(slot);
        std::destroy_at(&place.object);
        place.following = std::exchange(free_, slot);
    }
    [[nodiscard]] T* operator[](std::uint32_t slot) noexcept {
        PROMTACT_ASSERT(live(slot));
        return &place(slot).object;
    }
    /// Says that the object will be read soon. Inlined: g++ takes a function that only fetches for
    /// one without effect, and leaves calls of it out.
    [[gnu::always_inline]] void fetch(std::uint32_t slot) const noexcept {
        const auto* bytes = reinterpret_cast<const std::byte*>(&place(slot));
        constexpr std::size_t fetched = std::min(sizeof(Place), fetched_max);
        for (std::size_t at = 0; at < fetched; at += 64)
            __builtin_prefetch(bytes + at);
    }

  private:
    static constexpr std::uint32_t first_chunk = 64; // slots; a power of two
    static constexpr std::uint32_t used = none - 1;
    static constexpr std::size_t fetched_max = 256; // bytes

    struct Place {
        union {
            T object;
        };
        std::uint32_t following = none; // the next that is free, or `used`
        Place() noexcept {}             // NOLINT(modernize-use-equals-default): no object yet
        ~Place() {}                     // NOLINT(modernize-use-equals-default): the pool does it
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
    };

    [[nodiscard]] bool live(std::uint32_t slot) const noexcept {
        return slot < count_ && place(slot).following == used;
    }
    static std::size_t chunk_of(std::uint32_t shifted) noexcept {
        return static_cast<std::size_t>(std::bit_width(shifted / first_chunk)) - 1;
    }
    /// Chunk k holds 64 * 2^k slots, so it begins at slot 64 * (2^k - 1).
    [[nodiscard]] Place& place(std::uint32_t slot) const noexcept {
        const std::uint32_t shifted = slot + first_chunk;
        const std::size_t chunk = chunk_of(shifted);
        return chunks_[chunk][shifted - (first_chunk << chunk)];
    }
    std::uint32_t add() {
        PROMTACT_ASSERT(count_ < used - first_chunk);
        const std::uint32_t shifted = count_ + first_chunk;
        if (std::has_single_bit(shifted)) {
            PROMTACT_ASSERT(chunk_of(shifted) < chunks_.size());
            chunks_[chunk_of(shifted)] = std::make_unique<Place[]>(shifted);
        }
        return count_++;
    }

    std::array<std::unique_ptr<Place[]>, 25> chunks_{}; // up to 2^31 slots
    std::uint32_t count_ = 0;
    std::uint32_t free_ = none;
};

} // namespace promtact::engine
