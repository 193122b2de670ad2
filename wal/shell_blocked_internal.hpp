// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Threads that wait for the outcome of their appends. A group is woken by one system call, without
// the log's lock and without taking it again: what a wake costs decides how many threads can
// commit.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <linux/futex.h>

#include <promtact/wal/log_core.hpp>

namespace promtact::wal {

/// The places where groups of threads sleep; a group is a frame. Source: futex(2)
class Bedrooms {
  public:
    using Word = std::atomic<std::uint32_t>;
    static_assert(sizeof(Word) == sizeof(std::uint32_t) && Word::is_always_lock_free);

    [[nodiscard]] Word& of(std::uint64_t group) noexcept { return words_[group % words_.size()]; }
    /// Notes that somebody of the group got an outcome; wake() does the rest.
    void finished(std::uint64_t group) noexcept { due_ |= 1U << group % words_.size(); }
    [[nodiscard]] std::uint32_t take_due() noexcept { return std::exchange(due_, 0U); }
    /// Wakes everybody in the places of `due`.
    void wake(std::uint32_t due) noexcept {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if ((due >> i & 1U) == 0) continue;
            words_[i].fetch_add(1, std::memory_order_release);
            ::syscall(SYS_futex, &words_[i], FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
        }
    }

  private:
    std::array<Word, 8> words_{}; // pipelines are shorter, so that few groups share one
    std::uint32_t due_ = 0;
};

/// One append whose thread waits. On that thread's stack: finish() is the last to touch it.
class BlockedAppend {
  public:
    using Outcome = AppendDone::Outcome;

    void finish(Outcome outcome) noexcept {
        state_.store(finished + static_cast<std::uint32_t>(outcome), std::memory_order_release);
    }
    /// Sleeps in `bed` until finish() was called.
    [[nodiscard]] Outcome wait(const Bedrooms::Word& bed) const noexcept {
        for (;;) {
            const std::uint32_t seen = bed.load(std::memory_order_acquire);
            const std::uint32_t state = state_.load(std::memory_order_acquire);
            if (state >= finished) return static_cast<Outcome>(state - finished);
            ::syscall(SYS_futex, &bed, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
        }
    }

  private:
    static constexpr std::uint32_t finished = 1; // and above: the outcome
    std::atomic<std::uint32_t> state_{0};
};

} // namespace promtact::wal
