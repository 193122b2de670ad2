// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/error_text.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::uring {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = Ring::Nanoseconds;

constexpr std::uint32_t depth_max = 65536; // what InFlight can number
// Bounds of "try again": a signal storm may interrupt often, a kernel without memory for requests
// gets a few pauses that double, and an enter that makes no progress is not repeated for ever.
constexpr std::uint32_t interrupted_max = 1000;
constexpr std::uint32_t again_max = 8;
constexpr std::uint32_t stalled_max = 8;
constexpr Nanoseconds first_pause = std::chrono::microseconds{50};

/// The rest of a waiting time across interrupted calls.
class Deadline {
  public:
    explicit Deadline(std::optional<Nanoseconds> timeout) {
        if (!timeout) return;
        // A limit of centuries would overflow the clock.
        const Nanoseconds bounded = std::min<Nanoseconds>(*timeout, std::chrono::hours{24 * 365});
        end_ = Clock::now() + std::max(bounded, Nanoseconds::zero());
    }
    [[nodiscard]] std::optional<Nanoseconds> left() const {
        if (!end_) return std::nullopt;
        return std::max<Nanoseconds>(*end_ - Clock::now(), Nanoseconds::zero());
    }

  private:
    std::optional<Clock::time_point> end_{};
};

} // namespace

Outcome Finished::outcome() const noexcept {
    return judge(
        {.user_data = 0, .kind = kind, .length = asked}, {.user_data = 0, .result = result});
}

Result<std::uint32_t> Finished::check() const {
    return uring::check(
        {.user_data = 0, .kind = kind, .length = asked}, {.user_data = 0, .result = result});
}

Ring::Ring(std::unique_ptr<RingBackend> backend, const RingOptions& options, RingSetup setup)
    : backend_(std::move(backend)), options_(options), setup_(std::move(setup)),
      in_flight_(std::min(backend_->completion_capacity(), depth_max)) {
    prepared_.reserve(backend_->submission_capacity());
}

Ring& Ring::operator=(Ring&& other) noexcept {
    if (this == &other) return *this;
    if (backend_) static_cast<void>(drain(options_.drain_limit));
    backend_ = std::move(other.backend_);
    options_ = other.options_;
    setup_ = std::move(other.setup_);
    in_flight_ = std::move(other.in_flight_);
    prepared_ = std::move(other.prepared_);
    broken_ = std::move(other.broken_);
    held_ = std::move(other.held_);
    system_calls_ = other.system_calls_;
    return *this;
}

Ring::~Ring() {
    if (backend_) static_cast<void>(drain(options_.drain_limit));
}

std::uint32_t Ring::depth() const noexcept {
    return in_flight_.capacity();
}

std::uint32_t Ring::in_flight() const noexcept {
    return backend_ ? in_flight_.size() : 0;
}

std::uint32_t Ring::room() const noexcept {
    const auto staged = static_cast<std::uint32_t>(prepared_.size());
    PROMTACT_ASSERT(staged <= backend_->submission_capacity());
    return std::min(
        backend_->submission_capacity() - staged, in_flight_.capacity() - in_flight_.size());
}

void Ring::break_ring(Error cause) {
    if (!broken_) broken_ = std::move(cause);
}

Result<void> Ring::check_usable() {
    PROMTACT_ASSERT(backend_ != nullptr);
    if (broken_)
        return Error{Errc::poisoned, broken_->sys_errno, "ring stopped by: " + describe(*broken_)};
    if (held_) return *std::exchange(held_, std::nullopt);
    return {};
}

Result<void> Ring::prepare(const Operation& operation) {
    PROMTACT_TRY(check_usable());
    if (room() == 0) {
        return Error{
            Errc::busy, 0,
            "ring is full: " + std::to_string(in_flight_.size()) + " of " +
                std::to_string(depth()) + " operations in flight"};
    }
    PROMTACT_ASSERT(is_transfer(operation.kind) || operation.data.empty());
    PROMTACT_ASSERT(operation.data.size() <= 0x7fffffff);
    const std::uint64_t user_data = in_flight_.claim(
        operation.kind, static_cast<std::uint32_t>(operation.data.size()), operation.tag);
    const bool staged = backend_->stage(operation, user_data);
    PROMTACT_ASSERT(staged); // room() said so
    prepared_.push_back(user_data);
    return {};
}

void Ring::withdraw_prepared() {
    backend_->withdraw();
    for (const std::uint64_t user_data : prepared_)
        in_flight_.withdraw(user_data);
    prepared_.clear();
}

Error Ring::explain_enter(int sys_errno) {
    switch (sys_errno) {
    case EEXIST:
        return {
            Errc::refused, sys_errno,
            "io_uring_enter: this ring has a single issuer and another thread uses it; open the "
            "ring in the thread that uses it"};
    case EBADR: // NODROP kernels report lost completions this way
        break_ring(
            {Errc::system, sys_errno, "io_uring_enter: the kernel lost completions of this ring"});
        return *broken_;
    default:
        return Error::from_errno(sys_errno, "io_uring_enter");
    }
}

// One successful enter, or the error that persisted. ETIME is not an error here: nothing arrived.
Result<Ring::Entered> Ring::enter(std::uint32_t wait_for, std::optional<Nanoseconds> timeout) {
    std::uint32_t interrupted = 0;
    std::uint32_t again = 0;
    std::optional<Nanoseconds> left = timeout;
    std::optional<Deadline> deadline;
    if (timeout && wait_for > 0) deadline.emplace(timeout);
    while (true) {
        ++system_calls_;
        const int rc = backend_->enter(wait_for, left);
        if (rc >= 0) {
            const auto consumed = static_cast<std::size_t>(rc);
            PROMTACT_ASSERT(consumed <= prepared_.size());
            prepared_.erase(prepared_.begin(), prepared_.begin() + rc);
            return Entered{.consumed = static_cast<std::uint32_t>(consumed)};
        }
        if (rc == -ETIME) return Entered{.consumed = 0, .timed_out = true};
        // EBUSY: the kernel wants completions taken before it accepts more; the caller reaps.
        if (rc == -EBUSY) return Entered{.consumed = 0};
        if (rc == -EINTR && ++interrupted < interrupted_max) {
            if (deadline) left = deadline->left();
            continue;
        }
        if (rc == -EAGAIN && ++again < again_max) {
            std::this_thread::sleep_for(first_pause * (1U << again));
            if (deadline) left = deadline->left();
            continue;
        }
        return explain_enter(-rc);
    }
}

Result<void> Ring::submit() {
    PROMTACT_TRY(check_usable());
    return submit_prepared();
}

Result<void> Ring::submit_prepared() {
    for (std::uint32_t stalled = 0; !prepared_.empty() && stalled < stalled_max;) {
        auto entered = enter(0, std::nullopt);
        if (!entered) {
            withdraw_prepared();
            return std::move(entered).error();
        }
        if (entered->consumed == 0) ++stalled;
    }
    if (prepared_.empty()) return {};
    withdraw_prepared();
    return Error{Errc::busy, EBUSY, "io_uring_enter: the kernel takes no more operations"};
}

std::size_t Ring::reap(std::span<Finished> out) {
    std::array<Completion, 64> batch;
    std::size_t count = 0;
    while (count < out.size()) {
        const std::size_t wanted = std::min(batch.size(), out.size() - count);
        const std::uint32_t got = backend_->reap(std::span(batch).first(wanted));
        PROMTACT_ASSERT(got <= wanted);
        for (const Completion& completion : std::span(batch).first(got)) {
            auto settled = in_flight_.settle(completion);
            if (!settled) {
                break_ring(std::move(settled).error());
                continue;
            }
            // After the break answers only count towards what the kernel still owes.
            if (broken_) continue;
            out[count++] = {
                .tag = settled->tag,
                .kind = settled->kind,
                .asked = settled->length,
                .result = completion.result};
        }
        if (got < wanted) break;
    }
    check_counters();
    return count;
}

void Ring::check_counters() {
    const std::uint32_t dropped = backend_->dropped();
    const std::uint32_t overflowed = backend_->overflowed();
    if (dropped == 0 && overflowed == 0) return;
    break_ring(
        {Errc::system, 0,
         "ring lost entries: " + std::to_string(dropped) + " submissions dropped, " +
             std::to_string(overflowed) + " completions overflowed"});
}

Result<std::size_t> Ring::peek(std::span<Finished> out) {
    PROMTACT_TRY(check_usable());
    PROMTACT_ASSERT(!out.empty());
    // Deferred completions become visible only through a call that takes events. It would submit
    // as well, hence only when nothing is prepared.
    if (backend_->wants_enter() && prepared_.empty()) {
        auto entered = enter(0, std::nullopt);
        if (!entered) return std::move(entered).error();
    }
    const std::size_t count = reap(out);
    if (count == 0 && broken_) return *broken_;
    return count;
}

struct Ring::Waiting {
    std::span<Finished> out;
    std::uint32_t at_least;
    Deadline deadline;
    std::size_t count = 0;
    bool timed_out = false;
    std::optional<Error> failure{};

    [[nodiscard]] std::uint32_t missing() const noexcept {
        return count >= at_least ? 0 : static_cast<std::uint32_t>(at_least - count);
    }
};

// Submits, waits and reaps once. True when anything moved.
bool Ring::step(Waiting& waiting) {
    auto entered = enter(waiting.missing(), waiting.deadline.left());
    bool submitted = false;
    if (entered) {
        waiting.timed_out = entered->timed_out;
        submitted = entered->consumed > 0;
    } else {
        waiting.failure = std::move(entered).error();
        withdraw_prepared();
    }
    const std::size_t reaped = reap(waiting.out.subspan(waiting.count));
    waiting.count += reaped;
    return reaped > 0 || submitted;
}

Result<std::size_t>
Ring::wait(std::span<Finished> out, std::uint32_t at_least, Nanoseconds timeout) {
    PROMTACT_TRY(check_usable());
    PROMTACT_ASSERT(at_least <= out.size());
    PROMTACT_ASSERT(at_least <= in_flight_.size());
    Waiting waiting{.out = out, .at_least = at_least, .deadline = Deadline(timeout)};
    if (prepared_.empty()) waiting.count = reap(out);
    for (std::uint32_t stalled = 0; stalled < stalled_max && !broken_ && !waiting.failure;) {
        if (prepared_.empty() && (waiting.missing() == 0 || waiting.timed_out)) break;
        stalled = step(waiting) ? 0 : stalled + 1;
    }
    if (!prepared_.empty()) {
        withdraw_prepared();
        waiting.failure =
            Error{Errc::busy, EBUSY, "io_uring_enter: the kernel takes no more operations"};
    }
    if (waiting.count > 0) { // answers are never lost to an error; it comes with the next call
        if (!broken_) held_ = std::move(waiting.failure);
        return waiting.count;
    }
    if (broken_) return *broken_;
    if (waiting.failure) return *std::move(waiting.failure);
    if (waiting.missing() == 0) return std::size_t{0};
    return Error{
        Errc::timeout, ETIME,
        "no completion in time; " + std::to_string(in_flight_.size()) + " operations in flight"};
}

Result<void> Ring::drain(Nanoseconds limit) {
    if (!backend_) return {};
    withdraw_prepared();
    const Deadline deadline(limit);
    std::array<Completion, 64> batch;
    for (std::uint32_t stalled = 0; in_flight_.size() > 0 && stalled < stalled_max;) {
        const std::uint32_t before = in_flight_.size();
        for (const Completion& completion : std::span(batch).first(backend_->reap(batch))) {
            auto settled = in_flight_.settle(completion);
            if (!settled) break_ring(std::move(settled).error());
        }
        if (in_flight_.size() < before) {
            stalled = 0;
            continue;
        }
        auto entered = enter(1, deadline.left());
        if (!entered) return std::move(entered).error();
        if (entered->timed_out) break;
        ++stalled;
    }
    if (in_flight_.size() == 0) return {};
    return Error{
        Errc::timeout, ETIME,
        std::to_string(in_flight_.size()) +
            " operations were not answered; their buffers stay with the kernel"};
}

Result<void> Ring::data_sync(int fd) {
    PROMTACT_TRY(check_usable());
    const int rc = backend_->data_sync(fd);
    if (rc < 0) return Error::from_errno(-rc, "fdatasync");
    return {};
}

} // namespace promtact::uring
