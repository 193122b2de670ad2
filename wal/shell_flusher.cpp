// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <chrono>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/error_text.hpp>

#include "shell_flusher_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint64_t storage_wait_ns = 100'000'000; // an answer always ends it earlier
constexpr std::uint64_t gather_ns_max = 1'000'000;
constexpr std::uint32_t groups_skipped_after_a_miss = 16;

std::uint64_t now_ns() {
    return MonotonicClock{}.now_ns();
}

} // namespace

Log::Flusher::Flusher(std::filesystem::path directory, const LogConfig& config, UniqueFd lock)
    : directory_(std::move(directory)), config_(config), lock_(std::move(lock)) {}

Log::Flusher::Flusher(MakeStorage make, const LogConfig& config)
    : make_(std::move(make)), config_(config) {}

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
    lock_.reset(); // closed: the next one may open it
    if (core_ && core_->poisoned()) return poison_error();
    return {};
}

// The storage belongs to this thread from its first moment.
Result<void> Log::Flusher::open() {
    const std::size_t bytes = LogCore::arena_bytes(config_.log);
    PROMTACT_TRY_ASSIGN(uring::AlignedBuffer arena, make_arena(config_.log));
    arena_.emplace(std::move(arena));
    PROMTACT_TRY_ASSIGN(opened_, open_storage());
    mailbox_.emplace(opened_.storage->limits());
    core_.emplace(*mailbox_, config_.log, arena_->all().first(bytes));
    return {};
}

Result<OpenedEngine> Log::Flusher::open_storage() {
    if (!make_) return open_engine(directory_, config_.only, config_.allow_buffered, arena_->all());
    OpenedEngine opened;
    opened.engine = Engine::given;
    PROMTACT_TRY_ASSIGN(opened.storage, make_(arena_->all()));
    PROMTACT_ASSERT(opened.storage != nullptr);
    return opened;
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
    core_->pump(now_ns(), LogCore::Group::gather);
    settle();
    gather(lock);
    core_->pump(now_ns());
    settle();
    if (mailbox_->take_requests(requests_) > 0) committed_at_ns_ = now_ns();
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
                    ++released_;
                    bedrooms_.finished(entry.group);
                    entry.blocked->finish(done[i].outcome);
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

/// Threads that were acknowledged together usually append again. Without waiting for them, the next
/// group would hold only those that came meanwhile, and two half groups would alternate for ever.
/// Never after a single append, never longer than a group takes, and not where it did not pay.
void Log::Flusher::gather(std::unique_lock<std::mutex>& lock) {
    const std::size_t expected = std::exchange(released_, 0);
    if (expected == 0) return;
    const std::uint64_t group_ns = now_ns() - committed_at_ns_;
    const std::uint32_t due = bedrooms_.take_due();
    const bool gathers = expected > 1 && groups_skipped_ == 0;
    if (groups_skipped_ > 0) --groups_skipped_;
    arrived_ = 0;
    gathering_ = gathers ? expected : 0;
    lock.unlock();
    bedrooms_.wake(due);
    lock.lock();
    if (!gathers) return;
    const auto limit = std::chrono::nanoseconds(std::min(group_ns, gather_ns_max));
    work_.wait_for(lock, limit, [&] { return arrived_ >= expected || stopping_; });
    gathering_ = 0;
    if (arrived_ * 2 < expected) groups_skipped_ = groups_skipped_after_a_miss;
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
