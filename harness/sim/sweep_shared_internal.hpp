// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the processes of a sweep share: a map that all of them see.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include <sys/mman.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/result.hpp>
#include <promtact/sim/sweep.hpp>

namespace promtact::sim {

using SharedCount = std::atomic<std::uint64_t>;
static_assert(SharedCount::is_always_lock_free); // so it works between processes

/// One worker's place.
struct alignas(64) SweepSlot {
    static constexpr std::uint64_t idle = ~std::uint64_t{0};
    SharedCount index{idle}; // of the seed it is at
    SharedCount seeds{};
    SharedCount steps{};
    SharedCount deliveries{};
    SharedCount twins{};
    std::array<SharedCount, engine::all_verdicts.size()> verdicts{};
};

struct SweepControl {
    SharedCount next{};                  // index to hand out
    SharedCount limit{};                 // handed out so far only below
    SharedCount last{~std::uint64_t{0}}; // nothing from here on is run
    std::atomic<bool> stop{false};       // hand out nothing more
};

/// The mapping. Counts of faults and goals follow the slots.
class SweepShared {
  public:
    static Result<SweepShared> create(std::uint32_t jobs, std::size_t faults, std::size_t goals) {
        const std::size_t bytes = sizeof(SweepControl) + alignof(SweepSlot) +
                                  jobs * sizeof(SweepSlot) + (faults + goals) * sizeof(SharedCount);
        void* memory =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return Error::from_errno(errno, "mmap for a sweep");
        return SweepShared(memory, bytes, jobs, faults, goals);
    }
    SweepShared(SweepShared&& other) noexcept { *this = std::move(other); }
    SweepShared& operator=(SweepShared&& other) noexcept {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        std::swap(control_, other.control_);
        std::swap(slots_, other.slots_);
        std::swap(faults_, other.faults_);
        std::swap(goals_, other.goals_);
        return *this;
    }
    SweepShared(const SweepShared&) = delete;
    SweepShared& operator=(const SweepShared&) = delete;
    ~SweepShared() {
        if (memory_ != nullptr) ::munmap(memory_, bytes_);
    }

    [[nodiscard]] SweepControl& control() const noexcept { return *control_; }
    [[nodiscard]] std::span<SweepSlot> slots() const noexcept { return slots_; }
    [[nodiscard]] std::span<SharedCount> faults() const noexcept { return faults_; }
    [[nodiscard]] std::span<SharedCount> goals() const noexcept { return goals_; }

  private:
    SweepShared(
        void* memory, std::size_t bytes, std::uint32_t jobs, std::size_t faults, std::size_t goals)
        : memory_(memory), bytes_(bytes) {
        auto* at = static_cast<std::byte*>(memory);
        control_ = new (at) SweepControl;
        constexpr std::size_t align = alignof(SweepSlot);
        std::size_t offset = (sizeof(SweepControl) + align - 1) / align * align;
        slots_ = {reinterpret_cast<SweepSlot*>(at + offset), jobs};
        for (SweepSlot& slot : slots_)
            new (&slot) SweepSlot;
        offset += jobs * sizeof(SweepSlot);
        auto* counts = reinterpret_cast<SharedCount*>(at + offset);
        for (std::size_t i = 0; i < faults + goals; ++i)
            new (counts + i) SharedCount(0);
        faults_ = {counts, faults};
        goals_ = {counts + faults, goals};
        PROMTACT_ASSERT(offset + (faults + goals) * sizeof(SharedCount) <= bytes);
    }

    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    SweepControl* control_ = nullptr;
    std::span<SweepSlot> slots_{};
    std::span<SharedCount> faults_{};
    std::span<SharedCount> goals_{};
};

} // namespace promtact::sim
