// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The write-ahead log for programs with an event loop: no thread of its own, and after open()
// nothing that blocks its caller. Target promtact::wal_uring.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include <promtact/base/clock.hpp>
#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/wal/log.hpp>

namespace promtact::wal {

class Mailbox;

/// Owned and driven by the thread that opened it:
///
///     wait until event_fd() is readable, or timeout() passed, or something was appended
///     log.turn()                      once, however many records were appended: they share a frame
///     log.take_done(done)             outcomes, in LSN order
///
/// Writes and syncs both go through io_uring, since fdatasync(2) would block the loop. Creating and
/// removing segments makes short system calls on names; making a spare's content is asynchronous.
class LoopLog {
  public:
    /// Opens or creates the log in `directory` and recovers, blocking until that is done.
    /// config.only may be ring_sync; waiters_max and allow_buffered mean nothing here.
    /// Errors: as Log::open(); invalid_argument (another engine asked for); unsupported, denied (no
    /// io_uring or no direct I/O here: use Log)
    static Result<std::unique_ptr<LoopLog>>
    open(const std::filesystem::path& directory, const LogConfig& config);

    /// Only open() makes one that works.
    LoopLog(
        UniqueFd lock, uring::AlignedBuffer arena, std::unique_ptr<Storage> storage,
        const LogOptions& options);
    LoopLog(const LoopLog&) = delete;
    LoopLog& operator=(const LoopLog&) = delete;
    /// Waits for requests in flight. What was not reported durable is as after a crash.
    ~LoopLog();

    /// As LogCore. Nothing is handed to the kernel before turn().
    Result<Lsn> append(std::span<const std::byte> payload, RecordTag tag = {}) {
        return core_->append(payload, tag);
    }
    std::size_t take_done(std::span<AppendDone> out) noexcept { return core_->take_done(out); }

    /// Readable when turn() has a completion to take. The log keeps owning it.
    [[nodiscard]] int event_fd() const noexcept { return storage_->event_fd(); }
    /// When turn() wants to run although nothing completes; nothing: not before then.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> timeout() const;
    /// Takes completions and hands the kernel what may be started. Never blocks.
    void turn();

    /// Marks the log closed cleanly: go on with turn() until core().state() is closed or poisoned.
    /// When it is closed, another may open the directory.
    void close() noexcept { core_->close(); }

    /// The rest: reads, truncation, release, statistics, poison.
    [[nodiscard]] LogCore& core() noexcept { return *core_; }
    [[nodiscard]] const LogCore& core() const noexcept { return *core_; }

  private:
    UniqueFd lock_;
    uring::AlignedBuffer arena_;
    std::unique_ptr<Storage> storage_; // its requests use the arena: it ends first
    std::unique_ptr<Mailbox> mailbox_;
    std::optional<LogCore> core_{};
    std::vector<IoOp> requests_{};
    MonotonicClock clock_{};
};

} // namespace promtact::wal
