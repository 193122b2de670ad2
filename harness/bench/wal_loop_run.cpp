// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <deque>
#include <vector>

#include <poll.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>

#include "bench/wal_run.hpp"

namespace promtact::harness::bench {
namespace {

/// What an event loop does with the log: append while fewer than `writers` are outstanding, turn,
/// take outcomes, sleep in poll(2).
class LoopRun {
  public:
    LoopRun(wal::LoopLog& log, const WalJob& job)
        : log_(log), job_(job), payload_(job.record_bytes, std::byte{0x5a}) {}

    Result<Histogram> run() {
        while (ended_ < job_.records) {
            PROMTACT_TRY(append());
            log_.turn();
            const std::uint64_t before = ended_;
            PROMTACT_TRY(take());
            if (ended_ == before) PROMTACT_TRY(sleep());
        }
        return latency_;
    }

  private:
    Result<void> append() {
        while (started_ < job_.records && started_ - ended_ < job_.writers) {
            const std::uint64_t begin = clock_.now_ns();
            const Result<wal::Lsn> lsn = log_.append(payload_);
            if (!lsn && lsn.error().code == Errc::busy) return {};
            if (!lsn) return lsn.error();
            begun_.push_back(begin);
            ++started_;
        }
        return {};
    }
    Result<void> take() {
        std::array<wal::AppendDone, 16> done{};
        const std::size_t count = log_.take_done(done);
        const std::uint64_t now = clock_.now_ns();
        for (std::size_t i = 0; i < count; ++i) {
            if (done[i].outcome != wal::AppendDone::Outcome::durable)
                return Error{Errc::io, 0, "an append was not made durable"};
            for (wal::Lsn lsn = done[i].first; lsn <= done[i].last; ++lsn, ++ended_) {
                PROMTACT_ASSERT(!begun_.empty());
                latency_.record(now - begun_.front());
                begun_.pop_front();
                if (completes_piece(job_, ended_ + 1))
                    PROMTACT_TRY(log_.core().release_prefix(lsn));
            }
        }
        return {};
    }
    Result<void> sleep() {
        pollfd event{.fd = log_.event_fd(), .events = POLLIN, .revents = 0};
        const auto timeout = log_.timeout();
        const int wait_ms = timeout ? static_cast<int>(timeout->count() / 1'000'000 + 1) : 10'000;
        if (::poll(&event, 1, wait_ms) < 0 && errno != EINTR)
            return Error::from_errno(errno, "wait for the log");
        return {};
    }

    wal::LoopLog& log_;
    const WalJob& job_;
    std::vector<std::byte> payload_;
    MonotonicClock clock_{};
    Histogram latency_{};
    std::deque<std::uint64_t> begun_{};
    std::uint64_t started_ = 0;
    std::uint64_t ended_ = 0;
};

} // namespace

Result<WalRun> run_wal(wal::LoopLog& log, const WalJob& job) {
    PROMTACT_ASSERT(job.style == AppendStyle::loop);
    PROMTACT_ASSERT(job.writers > 0);
    const wal::LogStats before = log.core().stats();
    const MonotonicClock clock;
    WalRun run;
    const std::uint64_t begin = clock.now_ns();
    PROMTACT_TRY_ASSIGN(run.latency, LoopRun(log, job).run());
    run.elapsed_ns = clock.now_ns() - begin;
    run.records = run.latency.count();
    const wal::LogStats& after = log.core().stats();
    run.syncs = after.syncs - before.syncs;
    run.bytes_written = after.bytes_written - before.bytes_written;
    return run;
}

} // namespace promtact::harness::bench
