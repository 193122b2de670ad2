// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Page-aligned memory for direct I/O: one mapping cut into equal slots, registered with a ring
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::uring {

inline constexpr std::uint32_t block_bytes = 4096;

/// A zeroed anonymous mapping of `slots` slots. A slot is lent out by take() and comes back by
/// give(); it must not come back while the kernel may still read or write it.
class AlignedBuffer {
  public:
    /// Requires: slot_bytes is a positive multiple of 4096, slots > 0
    /// Errors: invalid_argument when the product exceeds 1 GiB, else by errno of mmap(2).
    static Result<AlignedBuffer> allocate(std::uint32_t slots, std::uint32_t slot_bytes);

    AlignedBuffer(AlignedBuffer&& other) noexcept;
    AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
    AlignedBuffer(const AlignedBuffer&) = delete;
    AlignedBuffer& operator=(const AlignedBuffer&) = delete;
    ~AlignedBuffer();

    [[nodiscard]] std::uint32_t slots() const noexcept { return slots_; }
    [[nodiscard]] std::uint32_t slot_bytes() const noexcept { return slot_bytes_; }
    [[nodiscard]] std::uint32_t free_slots() const noexcept {
        return static_cast<std::uint32_t>(free_.size());
    }
    /// The whole mapping, for Ring::register_buffers.
    [[nodiscard]] std::span<std::byte> all() const noexcept { return memory_; }
    /// Requires: index < slots()
    [[nodiscard]] std::span<std::byte> slot(std::uint32_t index) const noexcept;

    /// Lends a slot. Requires: free_slots() > 0
    [[nodiscard]] std::uint32_t take() noexcept;
    /// Requires: index is lent
    void give(std::uint32_t index) noexcept;

    /// Gives the memory up without unmapping it: for when the kernel may still use it.
    void abandon() noexcept;

  private:
    AlignedBuffer() = default;
    std::span<std::byte> memory_{};
    std::uint32_t slots_ = 0;
    std::uint32_t slot_bytes_ = 0;
    std::vector<std::uint32_t> free_{};
    std::vector<bool> lent_{};
};

} // namespace promtact::uring
