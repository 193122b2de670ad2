// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <utility>

#include <sys/mman.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/huge_pages.hpp>
#include <promtact/uring/aligned_buffer.hpp>

namespace promtact::uring {

namespace {
constexpr std::uint64_t bytes_max = std::uint64_t{1} << 30; // of one registered buffer

/// Gives the memory its pages now.
Result<void> populate(std::span<std::byte> memory) {
    prefer_huge_pages(memory);
    if (::madvise(memory.data(), memory.size(), MADV_POPULATE_WRITE) == 0) return {};
    if (errno != EINVAL) // before Linux 5.14: at the first use
        return Error::from_errno(
            errno, "populate " + std::to_string(memory.size()) + " bytes of buffers");
    return {};
}

} // namespace

Result<AlignedBuffer> AlignedBuffer::allocate(std::uint32_t slots, std::uint32_t slot_bytes) {
    PROMTACT_ASSERT(slots > 0);
    PROMTACT_ASSERT(slot_bytes > 0);
    PROMTACT_ASSERT(slot_bytes % block_bytes == 0);
    const std::uint64_t bytes = std::uint64_t{slots} * slot_bytes;
    if (bytes > bytes_max) {
        return Error{
            Errc::invalid_argument, 0,
            std::to_string(slots) + " slots of " + std::to_string(slot_bytes) +
                " bytes exceed the kernel's limit of 1 GiB for one buffer"};
    }
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return Error::from_errno(errno, "map " + std::to_string(bytes) + " bytes of buffers");
    AlignedBuffer buffer;
    buffer.memory_ = {static_cast<std::byte*>(memory), bytes};
    PROMTACT_TRY(populate(buffer.memory_));
    buffer.slots_ = slots;
    buffer.slot_bytes_ = slot_bytes;
    buffer.lent_.assign(slots, false);
    buffer.free_.reserve(slots);
    for (std::uint32_t i = slots; i > 0; --i)
        buffer.free_.push_back(i - 1);
    return buffer;
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : memory_(std::exchange(other.memory_, {})), slots_(std::exchange(other.slots_, 0)),
      slot_bytes_(other.slot_bytes_), free_(std::move(other.free_)), lent_(std::move(other.lent_)) {
}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(slots_, other.slots_);
    std::swap(slot_bytes_, other.slot_bytes_);
    free_.swap(other.free_);
    lent_.swap(other.lent_);
    return *this;
}

AlignedBuffer::~AlignedBuffer() {
    if (!memory_.empty()) PROMTACT_ASSERT(::munmap(memory_.data(), memory_.size()) == 0);
}

std::span<std::byte> AlignedBuffer::slot(std::uint32_t index) const noexcept {
    PROMTACT_ASSERT(index < slots_);
    return memory_.subspan(std::size_t{index} * slot_bytes_, slot_bytes_);
}

std::uint32_t AlignedBuffer::take() noexcept {
    PROMTACT_ASSERT(!free_.empty());
    const std::uint32_t index = free_.back();
    free_.pop_back();
    PROMTACT_ASSERT(!lent_[index]);
    lent_[index] = true;
    return index;
}

void AlignedBuffer::give(std::uint32_t index) noexcept {
    PROMTACT_ASSERT(index < slots_);
    PROMTACT_ASSERT(lent_[index]);
    lent_[index] = false;
    free_.push_back(index);
}

void AlignedBuffer::abandon() noexcept {
    memory_ = {};
    slots_ = 0;
    free_.clear();
}

} // namespace promtact::uring
