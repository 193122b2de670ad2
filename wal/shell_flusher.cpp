// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <chrono>

#include <promtact/base/clock.hpp>
#include <promtact/base/error_text.hpp>

#include "shell_flusher_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint64_t storage_wait_ns = 100'000'000; // an answer always ends it earlier

std::uint64_t now_ns() {
    return MonotonicClock{}.now_ns();
}

} // namespace

Log::Flusher::Flusher(std::filesystem::path directory, const LogConfig& config, UniqueFd lock)
    : directory_(std::move(directory)), config_(config), lock_(std::move(lock)) {}

Log::Flusher::~Flusher() {
    static_cast<void>(stop());
}

Result<void> Log::Flusher::start() {
    std::unique_lock lock(mutex_);
    thread_ = std::thread([this] { run(); });
    event_.wait(lock, [this] { return started_; });
    if (!open_error_) return {};
    return *open_error_;
}

Result<void> Log::Flusher::stop() {
    if (!thread_.joinable()) return {};
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        if (core_ && core_->state() == LogCore::State::ready) core_->close();
        resting_ = false;
        work_.notify_one();
    }
    thread_.join();
    if (core_ && core_->poisoned()) return poison_error();
    return {};
}

// The storage belongs to this thread from its first moment.
Result<void> Log::Flusher::open() {
    const std::size_t bytes = LogCore::arena_bytes(config_.log);
    PROMTACT_TRY_ASSIGN(
        uring::AlignedBuffer arena,
        uring::AlignedBuffer::allocate(
            1, static_cast<std::uint32_t>((bytes + block_bytes - 1) / block_bytes * block_bytes)));
    arena_.emplace(std::move(arena));
    PROMTACT_TRY_ASSIGN(
        opened_, open_engine(directory_, config_.only, config_.allow_buffered, arena_->all()));
    mailbox_.emplace(opened_.storage->limits());
    core_.emplace(*mailbox_, config_.log, arena_->all().first(bytes));
    return {};
}

bool Log::Flusher::over() const noexcept {
    const LogCore::State state = core_->state();
    const bool finished = state == LogCore::State::closed || state == LogCore::State::refused ||
                          (stopping_ && state == LogCore::State::poisoned);
    return finished && mailbox_->in_flight() == 0;
}

void Log::Flusher::run() {
    Result<void> opened = open();
    std::unique_lock lock(mutex_);
    if (!opened) {
        open_error_ = std::move(opened).error();
    } else {
        while (core_->state() == LogCore::State::opening)
            turn(lock);
        report_ = core_->report();
        if (core_->state() == LogCore::State::refused) open_error_ = core_->open_error();
        if (core_->poisoned()) open_error_ = core_->poison();
    }
    started_ = true;
    event_.notify_all();
    while (!open_error_ && !over())
        turn(lock);
    ended_ = true;
    lock.unlock();
    opened_.storage.reset(); // by the thread that opened it
}

void Log::Flusher::turn(std::unique_lock<std::mutex>& lock) {
    core_->pump(now_ns());
    settle();
    mailbox_->take_requests(requests_);
    if (!calls_.empty() || mailbox_->in_flight() > 0) {
        work(lock);
    } else if (!over()) {
        rest(lock);
    }
}

/// Gives every append that has an outcome its outcome.
void Log::Flusher::settle() {
    std::array<AppendDone, 64> done{};
    for (;;) {
        const std::size_t count = core_->take_done(done);
        for (std::size_t i = 0; i < count; ++i) {
            while (!entries_.empty() && entries_.front().lsn <= done[i].last) {
                Entry& entry = entries_.front();
                if (entry.blocked != nullptr) {
                    entry.blocked->outcome = done[i].outcome;
                    entry.blocked->wake.notify_one();
                } else if (entry.callback) {
                    calls_.push_back({entry.lsn, done[i].outcome, std::move(entry.callback)});
                }
                entries_.pop_front();
            }
        }
        if (count < done.size()) break;
    }
    event_.notify_all();
}

void Log::Flusher::work(std::unique_lock<std::mutex>& lock) {
    std::vector<Called> calls = std::exchange(calls_, {});
    const bool in_flight = mailbox_->in_flight() > 0 && !mailbox_->has_mail();
    lock.unlock();
    std::size_t taken = 0;
    while (taken < requests_.size() && opened_.storage->submit(requests_[taken]))
        ++taken;
    requests_.erase(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(taken));
    for (Called& call : calls)
        call.callback(call.lsn, call.outcome);
    std::array<IoDone, 64> answers{};
    // A callback may have appended: look at the core before waiting for the disk.
    const bool waits = in_flight && calls.empty();
    const std::size_t count =
        waits ? opened_.storage->wait(answers, storage_wait_ns) : opened_.storage->poll(answers);
    lock.lock();
    mailbox_->put_answers(std::span(answers).first(count));
}

/// Sleeps until somebody appends, closes or reads, or the core wants to be asked again.
void Log::Flusher::rest(std::unique_lock<std::mutex>& lock) {
    resting_ = true;
    const std::uint64_t deadline = core_->deadline_ns();
    const std::uint64_t now = now_ns();
    if (deadline == ~std::uint64_t{0}) {
        work_.wait(lock, [this] { return !resting_; });
    } else if (deadline > now) {
        work_.wait_for(
            lock, std::chrono::nanoseconds(deadline - now), [this] { return !resting_; });
    }
    resting_ = false;
}

} // namespace promtact::wal
