// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A run that can be set back: everything it allocates lies in one block of memory, which is copied
// out and back at the same address, so that every pointer in it stays right. A search that goes
// back thousands of times a second takes this; a second run beside the first takes clone().
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <promtact/base/assert.hpp>

namespace promtact::engine {

/// One block of memory that hands out pieces of itself. What it knows of them lies in the block
/// too. Belongs to the thread that made it.
class Arena {
  public:
    /// What the block held at one moment. Use one again: taking then allocates nothing.
    class Snapshot {
        friend Arena;
        std::unique_ptr<std::byte[]> bytes_{};
        std::size_t size_ = 0;
        std::size_t room_ = 0;
    };

    /// Requires: 64 KiB <= capacity < 4 GiB
    explicit Arena(std::size_t capacity)
        : capacity_(capacity), memory_(std::make_unique_for_overwrite<std::byte[]>(capacity)) {
        PROMTACT_ASSERT(capacity >= std::size_t{64} << 10);
        PROMTACT_ASSERT(capacity < std::size_t{4} << 30);
        static_assert(sizeof(Head) % unit == 0);
        static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= unit);
        head_ = new (memory_.get()) Head{.top = sizeof(Head)};
        following_ = std::exchange(first(), this);
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() {
        Arena** link = &first();
        while (*link != this)
            link = &(*link)->following_;
        *link = following_;
    }

    /// A piece, or nullptr when the block is full. Requires: alignment is a power of two
    void* allocate(std::size_t bytes, std::size_t alignment = unit) noexcept {
        PROMTACT_ASSERT(std::has_single_bit(alignment));
        if (bytes > capacity_ || alignment > capacity_) return nullptr;
        const std::size_t slack = alignment > unit ? alignment : 0;
        const unsigned size_class = class_of(sizeof(Tag) + bytes + slack);
        std::byte* const start = place(size_class);
        if (start == nullptr) return nullptr;
        std::byte* piece = start + sizeof(Tag);
        if (slack > 0) {
            const auto at = reinterpret_cast<std::uintptr_t>(piece);
            piece += (alignment - at % alignment) % alignment;
        }
        const auto offset = static_cast<std::uint64_t>(piece - start);
        const Tag tag{.size_class = size_class, .offset = offset};
        std::memcpy(piece - sizeof(Tag), &tag, sizeof tag);
        return piece;
    }
    /// Requires: allocate() of this arena gave the piece
    void deallocate(void* piece) noexcept {
        const Tag tag = tag_of(static_cast<std::byte*>(piece));
        PROMTACT_ASSERT(tag.size_class < classes);
        std::byte* const start = static_cast<std::byte*>(piece) - tag.offset;
        head_->free[tag.size_class] = new (start) Free{head_->free[tag.size_class]};
    }
    [[nodiscard]] bool owns(const void* piece) const noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(piece);
        const auto base = reinterpret_cast<std::uintptr_t>(memory_.get());
        return at - base < capacity_;
    }

    void take(Snapshot& into) const {
        const std::size_t size = used();
        if (into.room_ < size) {
            into.bytes_ = std::make_unique_for_overwrite<std::byte[]>(size);
            into.room_ = size;
        }
        std::memcpy(into.bytes_.get(), memory_.get(), size);
        into.size_ = size;
    }
    /// Requires: take() of this arena filled the snapshot
    void restore(const Snapshot& from) noexcept {
        PROMTACT_ASSERT(from.size_ > 0);
        PROMTACT_ASSERT(from.size_ <= capacity_);
        std::memcpy(memory_.get(), from.bytes_.get(), from.size_);
    }
    /// Bytes that a snapshot copies: the most that were ever in use at once, rounded up.
    [[nodiscard]] std::size_t used() const noexcept { return head_->top; }
    [[nodiscard]] std::uint64_t allocations() const noexcept { return head_->allocations; }

    /// The arena of this thread that the address lies in; nullptr when it is in none.
    static Arena* owner(const void* piece) noexcept {
        for (Arena* arena = first(); arena != nullptr; arena = arena->following_)
            if (arena->owns(piece)) return arena;
        return nullptr;
    }
    /// Where operator new of this thread takes memory from; nullptr is the heap.
    static Arena*& current() noexcept {
        static thread_local constinit Arena* arena = nullptr;
        return arena;
    }

  private:
    static constexpr std::size_t unit = 16; // bytes; also the least alignment
    // Sizes are 1, 2, 3, 4 units, then 5, 6, 7, 8 times a power of two of them.
    static constexpr unsigned classes = 4 * 28;

    /// Lies before every piece.
    struct Tag {
        std::uint64_t size_class = 0;
        std::uint64_t offset = 0; // of the piece in what was taken for it
    };
    struct Free {
        Free* next = nullptr;
    };
    struct alignas(unit) Head {
        std::size_t top = 0;
        std::uint64_t allocations = 0;
        std::array<Free*, classes> free{};
    };
    /// The class whose size is the smallest that serves.
    static unsigned class_of(std::size_t bytes) noexcept {
        const std::size_t units = (bytes + unit - 1) / unit;
        PROMTACT_ASSERT(units > 0);
        if (units <= 4) return static_cast<unsigned>(units - 1);
        const auto shift = static_cast<unsigned>(std::bit_width(units - 1)) - 3U;
        return 4 * shift + static_cast<unsigned>((units - 1) >> shift);
    }
    static std::size_t size_of(unsigned size_class) noexcept {
        if (size_class < 4) return (size_class + 1) * unit;
        return (std::size_t{5 + size_class % 4} << (size_class / 4 - 1)) * unit;
    }
    static Tag tag_of(const std::byte* piece) noexcept {
        Tag tag;
        std::memcpy(&tag, piece - sizeof tag, sizeof tag);
        return tag;
    }
    /// Memory of a class: one that was given back, else from the top.
    std::byte* place(unsigned size_class) noexcept {
        std::byte* start = nullptr;
        if (Free* const again = head_->free[size_class]; again != nullptr) {
            head_->free[size_class] = again->next;
            start = reinterpret_cast<std::byte*>(again);
        } else {
            const std::size_t size = size_of(size_class);
            if (size > capacity_ - head_->top) return nullptr;
            start = memory_.get() + std::exchange(head_->top, head_->top + size);
        }
        ++head_->allocations;
        return start;
    }
    static Arena*& first() noexcept {
        static thread_local constinit Arena* arena = nullptr;
        return arena;
    }
    std::size_t capacity_;
    std::unique_ptr<std::byte[]> memory_;
    Head* head_ = nullptr;
    Arena* following_ = nullptr;
};

/// While it lives, operator new of this thread takes from the arena (or from the heap again, with
/// nullptr). Needs arena_new.hpp in one source file of the program.
class ArenaScope {
  public:
    explicit ArenaScope(Arena* arena) noexcept : before_(std::exchange(Arena::current(), arena)) {}
    ArenaScope(const ArenaScope&) = delete;
    ArenaScope& operator=(const ArenaScope&) = delete;
    ~ArenaScope() { Arena::current() = before_; }

  private:
    Arena* before_;
};

/// An object that can be set back with everything it owns. Whatever it comes to own must be made
/// within with(); what it only refers to is not set back.
template <class T>
class Restorable {
  public:
    /// Throws: std::bad_alloc when the capacity (bytes) does not hold it
    template <class... Args>
    explicit Restorable(std::size_t capacity, Args&&... args)
        : arena_(capacity), object_(make(arena_, std::forward<Args>(args)...)) {
        PROMTACT_ASSERT(arena_.owns(object_.get())); // else arena_new.hpp is in no source file
    }
    /// fn(T&), whose allocations lie in the arena.
    template <class Fn>
    decltype(auto) with(Fn fn) {
        const ArenaScope scope(&arena_);
        return fn(*object_);
    }
    [[nodiscard]] const T& operator*() const noexcept { return *object_; }
    [[nodiscard]] const T* operator->() const noexcept { return object_.get(); }
    [[nodiscard]] const Arena& arena() const noexcept { return arena_; }

    void take(Arena::Snapshot& into) const { arena_.take(into); }
    void restore(const Arena::Snapshot& from) noexcept { arena_.restore(from); }

  private:
    template <class... Args>
    static std::unique_ptr<T> make(Arena& arena, Args&&... args) {
        const ArenaScope scope(&arena);
        return std::make_unique<T>(std::forward<Args>(args)...);
    }

    Arena arena_;
    std::unique_ptr<T> object_;
};

} // namespace promtact::engine
