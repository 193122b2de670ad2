// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The seam between a Ring and the kernel. kernel_ring.cpp implements it with liburing, FakeRing
// with a script, so that every answer a kernel may give can be given in a test.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include <promtact/uring/completion.hpp>
#include <promtact/uring/operation.hpp>

namespace promtact::uring {

/// One submission and completion queue pair. Not thread safe; all results are raw: a count, or
/// -errno.
class RingBackend {
  public:
    RingBackend() = default;
    RingBackend(const RingBackend&) = delete;
    RingBackend& operator=(const RingBackend&) = delete;
    virtual ~RingBackend() = default;

    [[nodiscard]] virtual std::uint32_t submission_capacity() const noexcept = 0;
    [[nodiscard]] virtual std::uint32_t completion_capacity() const noexcept = 0;

    /// Writes one entry that the next enter() will publish. False when the queue is full.
    virtual bool stage(const Operation& operation, std::uint64_t user_data) noexcept = 0;

    /// Publishes all staged entries and, when wait_for > 0, waits for that many completions or
    /// until the timeout (none: for ever). One system call. Returns entries consumed (0 when there
    /// was nothing to submit) or -errno; with -errno no entry was consumed by this call.
    virtual int
    enter(std::uint32_t wait_for, std::optional<std::chrono::nanoseconds> timeout) noexcept = 0;

    /// Takes back staged entries that the kernel did not consume: a later enter() must not submit
    /// them.
    virtual void withdraw() noexcept = 0;

    /// Moves available completions out without a system call.
    virtual std::uint32_t reap(std::span<Completion> out) noexcept = 0;

    /// Completions exist that only enter() makes visible (deferred task work, overflow list).
    [[nodiscard]] virtual bool wants_enter() const noexcept = 0;

    /// Kernel counters: entries it refused to read, completions it could not store.
    [[nodiscard]] virtual std::uint32_t dropped() const noexcept = 0;
    [[nodiscard]] virtual std::uint32_t overflowed() const noexcept = 0;

    virtual int register_buffers(std::span<const std::span<std::byte>> buffers) noexcept = 0;
    virtual int register_files(std::span<const int> files) noexcept = 0;
    /// Puts a descriptor (-1: none) at an index of the registered table.
    virtual int update_file(std::uint32_t index, int fd) noexcept = 0;
    virtual int register_eventfd(int fd) noexcept = 0;
    virtual int register_ring() noexcept = 0;

    /// fdatasync(2) beside the ring, for callers that wait anyway. 0 or -errno.
    virtual int data_sync(int fd) noexcept = 0;
};

} // namespace promtact::uring
