// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a completion says about the operation it claims to answer. Everything the kernel hands back
// is judged here before anybody acts on it: identity first, then sign, then length.
#pragma once

#include <cstdint>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/uring/operation.hpp>

namespace promtact::uring {

/// Shape: io_uring_cqe of linux/io_uring.h
struct Completion {
    std::uint64_t user_data = 0;
    std::int32_t result = 0; // bytes, or -errno
    std::uint32_t flags = 0;
    friend bool operator==(const Completion&, const Completion&) = default;
};

/// What was asked of the kernel, kept until the answer arrives.
struct Expectation {
    std::uint64_t user_data = 0;
    OpKind kind = OpKind::nop;
    std::uint32_t length = 0; // bytes asked for; 0 unless a transfer
    std::uint64_t tag = 0;
};

enum class Outcome : std::uint8_t {
    complete,   // everything asked was done
    short_done, // a transfer moved fewer bytes than asked (possibly none)
    again,      // -EAGAIN or -EINTR: nothing may be assumed about what was moved
    cancelled,  // -ECANCELED: a linked predecessor did not do all it asked
    failed,     // any other errno
    foreign,    // answers another operation
    impossible, // no kernel answers so: more bytes than asked, a positive sync, more to follow
};

/// The one place that reads a completion's sign and length.
Outcome judge(const Expectation& expected, const Completion& completion) noexcept;

/// Bytes moved when judge() says complete.
/// Errors: corrupt (foreign, impossible), short_write, cancelled, otherwise by errno.
Result<std::uint32_t> check(const Expectation& expected, const Completion& completion);

/// The operations the kernel still owes an answer for. Every claim is settled exactly once; a
/// completion that answers none of them, or answers one twice, is an error that names it.
class InFlight {
  public:
    /// Requires: 0 < capacity <= 65536
    explicit InFlight(std::uint32_t capacity);

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return static_cast<std::uint32_t>(slots_.size());
    }

    /// Registers an operation and returns the user_data to submit it under.
    /// Requires: size() < capacity()
    std::uint64_t claim(OpKind kind, std::uint32_t length, std::uint64_t tag);

    /// Takes the expectation that this completion answers out of the table.
    /// Errors: corrupt when it answers nothing (never submitted, or answered before) or is
    /// impossible; the table is then unchanged.
    Result<Expectation> settle(const Completion& completion);

    /// Forgets an operation that never reached the kernel.
    /// Requires: user_data is claimed
    void withdraw(std::uint64_t user_data);

  private:
    static constexpr std::uint32_t slot_bits = 16;
    struct Slot {
        Expectation expected{};
        bool busy = false;
    };
    Slot* find(std::uint64_t user_data) noexcept;
    void release(Slot& slot);

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::uint64_t sequence_ = 0;
    std::uint32_t size_ = 0;
};

} // namespace promtact::uring
