// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/wal_run.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/wal/frame.hpp>

namespace promtact::harness::bench {
namespace {

constexpr std::chrono::seconds room_timeout{30};

// A closed loop of outstanding appends. Everything but the start runs on the flusher's thread.
class CallbackLoop {
  public:
    CallbackLoop(wal::Log& log, const WalJob& job)
        : log_(log), job_(job), payload_(job.record_bytes, std::byte{0x5a}) {}

    Result<Histogram> run() {
        const std::uint64_t first = std::min<std::uint64_t>(job_.writers, job_.records);
        for (std::uint64_t i = 0; i < first; ++i)
            start(false);
        std::unique_lock lock(mutex_);
        while (ended_ < started_ || started_ < job_.records) {
            if (failure_) break;
            if (starved_ > 0) { // the log had no room when a callback wanted to go on
                --starved_;
                lock.unlock();
                start(true);
                lock.lock();
                continue;
            }
            wake_.wait(lock);
        }
        wake_.wait(lock, [this] { return ended_ == started_; });
        if (failure_) return *failure_;
        return latency_;
    }

  private:
    void start(bool wait) {
        {
            const std::lock_guard lock(mutex_);
            if (started_ == job_.records || failure_) return;
            ++started_;
        }
        const std::uint64_t begin = clock_.now_ns();
        auto callback = [this, begin](wal::Lsn lsn, wal::Log::Outcome outcome) {
            finish(lsn, begin, outcome);
        };
        const auto timeout =
            wait ? std::chrono::nanoseconds(room_timeout) : std::chrono::nanoseconds(0);
        const Result<wal::Lsn> lsn = log_.append_for(payload_, {}, callback, timeout);
        if (lsn) return;
        const std::lock_guard lock(mutex_);
        --started_;
        if (lsn.error().code == Errc::busy && !wait) {
            ++starved_;
        } else if (!failure_) {
            failure_ = lsn.error();
        }
        wake_.notify_one();
    }
    void finish(wal::Lsn lsn, std::uint64_t begin, wal::Log::Outcome outcome) {
        latency_.record(clock_.now_ns() - begin);
        bool over = false;
        bool releases = false;
        {
            const std::lock_guard lock(mutex_);
            ++ended_;
            releases = completes_piece(job_, ended_);
            if (outcome != wal::Log::Outcome::durable && !failure_)
                failure_ = Error{Errc::io, 0, "an append was not made durable"};
            over = failure_ || started_ == job_.records;
            if (over) wake_.notify_one();
        }
        if (releases) static_cast<void>(log_.release_prefix(lsn)); // a poisoned log says so itself
        if (!over) start(false);
    }

    wal::Log& log_;
    const WalJob& job_;
    std::vector<std::byte> payload_;
    MonotonicClock clock_{};
    Histogram latency_{};
    std::mutex mutex_{}; // guards started_, ended_, starved_, failure_
    std::condition_variable wake_{};
    std::uint64_t started_ = 0;
    std::uint64_t ended_ = 0;
    std::uint64_t starved_ = 0;
    std::optional<Error> failure_{};
};

struct ThreadResult {
    Histogram latency{};
    std::optional<Error> failure{};
};

void append_blocking(
    wal::Log& log, const WalJob& job, std::uint64_t count, std::atomic<std::uint64_t>& ended,
    ThreadResult& result) {
    const std::vector<std::byte> payload(job.record_bytes, std::byte{0x5a});
    const MonotonicClock clock;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t begin = clock.now_ns();
        const Result<wal::Lsn> lsn = log.append_durable(payload);
        if (!lsn) {
            result.failure = lsn.error();
            return;
        }
        result.latency.record(clock.now_ns() - begin);
        if (completes_piece(job, ++ended)) static_cast<void>(log.release_prefix(*lsn));
    }
}

Result<Histogram> run_threads(wal::Log& log, const WalJob& job) {
    std::vector<ThreadResult> results(job.writers);
    std::vector<std::thread> threads;
    threads.reserve(results.size());
    const std::uint64_t each = job.records / job.writers;
    std::atomic<std::uint64_t> ended{0};
    for (ThreadResult& result : results)
        threads.emplace_back([&] { append_blocking(log, job, each, ended, result); });
    for (std::thread& thread : threads)
        thread.join();
    Histogram latency;
    for (const ThreadResult& result : results) {
        if (result.failure) return *result.failure;
        latency.merge(result.latency);
    }
    return latency;
}

} // namespace

std::string_view to_string(AppendStyle style) noexcept {
    switch (style) {
    case AppendStyle::callback:
        return "callback";
    case AppendStyle::blocking:
        return "blocking";
    case AppendStyle::loop:
        return "loop";
    }
    PROMTACT_UNREACHABLE();
}

bool completes_piece(const WalJob& job, std::uint64_t ended) noexcept {
    return ended % std::max<std::uint64_t>(1, release_bytes / job.record_bytes) == 0;
}

std::uint64_t WalRun::records_per_second() const noexcept {
    return elapsed_ns == 0 ? 0 : records * 1'000'000'000 / elapsed_ns;
}

Result<WalRun> run_wal(wal::Log& log, const WalJob& job) {
    PROMTACT_ASSERT(job.style != AppendStyle::loop);
    PROMTACT_ASSERT(job.writers > 0);
    PROMTACT_ASSERT(job.records >= job.writers);
    const wal::LogStats before = log.stats();
    const MonotonicClock clock;
    WalRun run;
    const std::uint64_t begin = clock.now_ns();
    if (job.style == AppendStyle::callback) {
        PROMTACT_TRY_ASSIGN(run.latency, CallbackLoop(log, job).run());
    } else {
        PROMTACT_TRY_ASSIGN(run.latency, run_threads(log, job));
    }
    run.elapsed_ns = clock.now_ns() - begin;
    run.records = run.latency.count();
    const wal::LogStats after = log.stats();
    run.syncs = after.syncs - before.syncs;
    run.bytes_written = after.bytes_written - before.bytes_written;
    return run;
}

Ceiling ceiling_of(const WalJob& job, std::uint64_t frame_bytes_max) {
    const std::uint64_t each = wal::record_body_bytes(job.record_bytes);
    for (std::uint64_t records = job.writers; records > 0; --records) {
        const std::uint64_t bytes =
            std::uint64_t{wal::blocks_for_body(each * records)} * wal::block_bytes;
        if (bytes > 0 && bytes <= frame_bytes_max)
            return {.write_bytes = bytes, .records = records};
    }
    PROMTACT_UNREACHABLE();
}

} // namespace promtact::harness::bench
