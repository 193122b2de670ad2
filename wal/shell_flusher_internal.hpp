// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The thread that drives a log core, and the lock that other threads use it under.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/wal/log.hpp>

#include "shell_blocked_internal.hpp"
#include "shell_directory_internal.hpp"
#include "shell_mailbox_internal.hpp"

namespace promtact::wal {

class Log::Flusher {
  public:
    Flusher(std::filesystem::path directory, const LogConfig& config, UniqueFd lock);
    Flusher(MakeStorage make, const LogConfig& config);
    Flusher(const Flusher&) = delete;
    Flusher& operator=(const Flusher&) = delete;
    ~Flusher();

    /// Starts the thread and waits until the log is ready or refused.
    Result<void> start();
    Result<void> stop();

    /// Appends under the lock. exactly one of blocked and callback is set.
    Result<Lsn> append(
        std::span<const std::byte> payload, RecordTag tag, BlockedAppend* blocked,
        Callback callback, std::chrono::nanoseconds room_timeout);
    Result<Lsn> truncate_suffix(Lsn keep_through, BlockedAppend& blocked);
    Result<void> release_prefix(Lsn first_live);
    /// The frame that holds `from`, in `buffer`.
    Result<LogCore::FrameRead> read_frame(Lsn from, std::span<std::byte> buffer);

    /// What f returns of the core, under the lock.
    template <class F>
    auto with_core(F&& f) const {
        const std::lock_guard lock(mutex_);
        return f(*core_);
    }
    [[nodiscard]] Engine engine() const noexcept { return opened_.engine; }
    [[nodiscard]] const std::vector<EngineRefusal>& refusals() const noexcept {
        return opened_.refusals;
    }
    [[nodiscard]] const ScanReport& report() const noexcept { return report_; }

    std::mutex reading{}; // guards start_read() to take_read(): one reader at a time

  private:
    struct Entry {
        Lsn lsn = 0;
        std::uint64_t group = 0;
        BlockedAppend* blocked = nullptr;
        Callback callback{};
    };
    struct Called {
        Lsn lsn = 0;
        AppendDone::Outcome outcome = AppendDone::Outcome::durable;
        Callback callback{};
    };
    void run();
    Result<void> open();
    Result<OpenedEngine> open_storage();
    void turn(std::unique_lock<std::mutex>& lock);
    void settle();
    void gather(std::unique_lock<std::mutex>& lock);
    /// For the entry just made; lets go of the lock.
    Result<Lsn> await(std::unique_lock<std::mutex>& lock, Lsn lsn, BlockedAppend& blocked);
    void rest(std::unique_lock<std::mutex>& lock);
    void work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool over() const noexcept;
    [[nodiscard]] Error poison_error() const;

    std::filesystem::path directory_{};
    MakeStorage make_{}; // instead of a directory
    LogConfig config_;
    UniqueFd lock_{};
    std::optional<uring::AlignedBuffer> arena_{};
    OpenedEngine opened_{};
    std::optional<Mailbox> mailbox_{};
    std::optional<LogCore> core_{};
    ScanReport report_{};

    mutable std::mutex mutex_{};      // guards all below and core_, mailbox_
    std::condition_variable work_{};  // the flusher waits here for something to do
    std::condition_variable event_{}; // others wait here: opened, room, a read, the end
    std::deque<Entry> entries_{};     // in LSN order
    std::vector<Called> calls_{};     // made by the flusher without the lock
    std::vector<IoOp> requests_{};
    Bedrooms bedrooms_{};
    std::size_t released_ = 0;         // threads given an outcome this turn
    std::size_t arrived_ = 0;          // appends since
    std::size_t gathering_ = 0;        // arrivals the flusher waits for; 0: it does not
    std::uint32_t groups_skipped_ = 0; // still to go without gathering, since it did not pay
    std::uint64_t committed_at_ns_ = 0;
    bool started_ = false;
    bool resting_ = false;
    bool stopping_ = false;
    bool ended_ = false;
    std::optional<Error> open_error_{};
    std::thread thread_{};
};

} // namespace promtact::wal
