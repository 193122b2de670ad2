// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One io_uring with an owner: opened with the best setup this kernel takes, every answer checked,
// nothing left in flight when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/uring/backend.hpp>

namespace promtact::uring {

/// Ways to set a ring up, best first.
enum class RingMode : std::uint8_t {
    deferred,    // SINGLE_ISSUER | DEFER_TASKRUN | TASKRUN_FLAG (Linux 6.1)
    cooperative, // COOP_TASKRUN | TASKRUN_FLAG (Linux 5.19)
    plain,       // no flag
};
std::string_view to_string(RingMode mode) noexcept;

struct RingOptions {
    std::uint32_t entries = 32;     // 1..32768; the kernel rounds up to a power of two
    std::optional<RingMode> only{}; // this mode or an error, instead of the best one offered
    bool register_ring = true;      // spare the descriptor lookup per system call
    std::chrono::milliseconds drain_limit{10'000}; // how long the destructor waits
};

/// What the kernel took, and what it refused on the way there.
struct RingSetup {
    struct Refused {
        RingMode mode = RingMode::plain;
        int sys_errno = 0;
    };
    RingMode mode = RingMode::plain;
    std::uint32_t flags = 0;    // IORING_SETUP_*
    std::uint32_t features = 0; // IORING_FEAT_*
    bool ring_registered = false;
    int ring_register_errno = 0; // why not, when it was asked for
    std::vector<Refused> refused{};
};

/// An answered operation. Identity and plausibility have been checked; success has not.
struct Finished {
    std::uint64_t tag = 0;
    OpKind kind = OpKind::nop;
    std::uint32_t asked = 0; // bytes; 0 unless a transfer
    std::int32_t result = 0; // bytes, or -errno
    [[nodiscard]] Outcome outcome() const noexcept;
    /// Errors: short_write, cancelled, or by errno; context names the kind.
    [[nodiscard]] Result<std::uint32_t> check() const;
};

/// Owns one ring. In mode `deferred` only the thread that opened it may use it: the kernel answers
/// any other with EEXIST, reported as Errc::refused.
///
/// After an answer that cannot be attributed (unknown, repeated or lost completion, overflow) the
/// ring is broken: every later call returns Errc::poisoned with the first cause, since no outcome
/// can be trusted any more.
class Ring {
  public:
    using Nanoseconds = std::chrono::nanoseconds;

    /// Errors: invalid_argument (entries); denied (kernel.io_uring_disabled, seccomp, or ENOMEM
    /// under RLIMIT_MEMLOCK, with the values found); unsupported (no io_uring in this kernel, or
    /// one too old). The context says what to do.
    static Result<Ring> open(const RingOptions& options);

    /// The same ring over another backend. For tests.
    static Ring over(std::unique_ptr<RingBackend> backend, const RingOptions& options);

    Ring(Ring&&) noexcept = default;
    Ring& operator=(Ring&&) noexcept;
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    /// Drains for at most RingOptions::drain_limit.
    ~Ring();

    [[nodiscard]] const RingSetup& setup() const noexcept { return setup_; }
    /// Operations that may be prepared now without Errc::busy.
    [[nodiscard]] std::uint32_t room() const noexcept;
    [[nodiscard]] std::uint32_t depth() const noexcept;
    /// Prepared or submitted, answer not taken yet.
    [[nodiscard]] std::uint32_t in_flight() const noexcept;
    [[nodiscard]] std::uint64_t system_calls() const noexcept { return system_calls_; }

    /// Registers buffers as numbers 0, 1, … Errors: denied with ENOMEM names RLIMIT_MEMLOCK.
    Result<void> register_buffers(std::span<const std::span<std::byte>> buffers);
    /// Registers descriptors as indexes 0, 1, …; the kernel keeps its own reference.
    Result<void> register_files(std::span<const int> files);
    /// Puts another descriptor at an index of the registered table; -1 empties it. Operations in
    /// flight keep the file they started with.
    Result<void> update_file(std::uint32_t index, int fd);
    /// The kernel signals this eventfd for each completion.
    Result<void> register_eventfd(int fd);

    /// Puts one operation behind those already prepared; nothing reaches the kernel yet.
    /// Errors: busy when room() is 0; poisoned.
    Result<void> prepare(const Operation& operation);

    /// Gives everything prepared to the kernel. EINTR and EAGAIN are retried a bounded number of
    /// times. On error the operations the kernel did not take are withdrawn: they never run and are
    /// never reported, and in_flight() counts only the others.
    /// Errors: busy (EAGAIN persisted), refused (wrong thread), poisoned, otherwise by errno.
    Result<void> submit();

    /// Submits what is prepared, then waits until at_least answers are in `out` and adds whatever
    /// else is there. Returns how many; fewer than at_least only when the timeout came first.
    /// Requires: at_least <= out.size(), at_least <= in_flight()
    /// Errors: timeout when nothing at all was answered (the operations stay in flight and keep
    /// their buffers); otherwise as submit().
    Result<std::size_t> wait(std::span<Finished> out, std::uint32_t at_least, Nanoseconds timeout);

    /// Answers available now, possibly none; does not submit.
    Result<std::size_t> peek(std::span<Finished> out);

    /// Withdraws what was not submitted and waits until the kernel owes nothing; answers are
    /// dropped. Errors: timeout: the buffers of the remaining operations must not be reused or
    /// freed.
    Result<void> drain(Nanoseconds limit);

    /// fdatasync(2) through the ring's backend.
    Result<void> data_sync(int fd);

  private:
    struct Entered {
        std::uint32_t consumed = 0;
        bool timed_out = false;
    };
    struct Waiting; // the state of one wait()
    Ring(std::unique_ptr<RingBackend> backend, const RingOptions& options, RingSetup setup);
    Result<void> check_usable();
    Result<Entered> enter(std::uint32_t wait_for, std::optional<Nanoseconds> timeout);
    Error explain_enter(int sys_errno);
    Result<void> submit_prepared();
    void withdraw_prepared();
    bool step(Waiting& waiting);
    std::size_t reap(std::span<Finished> out);
    void check_counters();
    void break_ring(Error cause);

    std::unique_ptr<RingBackend> backend_;
    RingOptions options_;
    RingSetup setup_;
    InFlight in_flight_;
    std::vector<std::uint64_t> prepared_; // user_data of staged entries, oldest first
    std::optional<Error> broken_{};
    std::optional<Error> held_{}; // an error met while answers were being delivered
    std::uint64_t system_calls_ = 0;
};

} // namespace promtact::uring
