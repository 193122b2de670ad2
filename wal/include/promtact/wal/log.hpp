// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The write-ahead log for programs with threads: a flusher thread drives the log core over the best
// storage this host offers, and any thread may append. Target promtact::wal_uring.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/wal/log_core.hpp>

namespace promtact::wal {

/// How the log reaches its disk, best first. All but the last bypass the page cache.
enum class Engine : std::uint8_t {
    inline_sync, // io_uring for writes, fdatasync(2) by the flusher thread
    ring_sync,   // io_uring for writes and syncs
    pwrite,      // pwrite(2) and fdatasync(2)
    buffered,    // the same through the page cache: where there is no direct I/O. Degraded: a lost
                 // page write may be noticed late, and read errors are hidden until eviction
    given,       // a storage of the caller's, see MakeStorage
};
std::string_view to_string(Engine engine) noexcept;

struct LogConfig {
    LogOptions log{};                  // uuid and entropy are drawn when they are zero
    std::optional<Engine> only{};      // this engine or an error; default: the first that opens
    bool allow_buffered = true;        // the last step of the ladder
    std::uint32_t waiters_max = 65536; // appends without an outcome; beyond: busy
    std::chrono::milliseconds lock_wait{1000}; // requests of a killed process hold files a while
};

/// Makes the storage of a log; called once, by the flusher thread, which also uses and destroys it.
/// The arena is the memory that all its reads and writes lie in, for those who register memory.
/// Lifetime: the arena outlives the storage.
using MakeStorage = std::function<Result<std::unique_ptr<Storage>>(std::span<std::byte> arena)>;

/// Why an engine above the chosen one was not taken.
struct EngineRefusal {
    Engine engine = Engine::inline_sync;
    Error error{};
};

/// Safe to use from any thread, except open() and close(), which have one caller.
class Log {
  public:
    using Outcome = AppendDone::Outcome;
    /// Called once, by the flusher thread, in LSN order, with no lock held: it may append. It must
    /// not block, nor call close(), read() or a blocking append.
    using Callback = std::function<void(Lsn lsn, Outcome outcome)>;

    /// Opens or creates the log in `directory` (options.log.open), recovers, and starts the
    /// flusher. A missing directory is made when the log may be created.
    /// Errors: busy (another process has it open); those of LogCore's open_error(); those of the
    /// storages when no engine could be opened, the last one's.
    static Result<std::unique_ptr<Log>>
    open(const std::filesystem::path& directory, const LogConfig& config);

    /// The same on a storage of the caller's; engine() is `given`, and of the config only `log` and
    /// waiters_max matter. Requires: nobody else uses what the storage is on: the caller locks it
    /// Errors: those of make; those of LogCore's open_error()
    static Result<std::unique_ptr<Log>> open(MakeStorage make, const LogConfig& config);

    class Flusher;
    /// Only open() can make one: nobody else has a flusher.
    explicit Log(std::unique_ptr<Flusher> flusher);
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    /// As close(), without its answer.
    ~Log();

    /// Appends and returns at once. Durable: when the callback says so
    /// Errors: busy (back-pressure: try again, or append_for); no_space; invalid_argument;
    /// poisoned. After an error the callback is never called.
    Result<Lsn> append(std::span<const std::byte> payload, RecordTag tag, Callback callback);

    /// As append(), waiting up to `timeout` for room.
    Result<Lsn> append_for(
        std::span<const std::byte> payload, RecordTag tag, Callback callback,
        std::chrono::nanoseconds timeout);

    /// Appends and returns when the record is durable. Durable: yes
    /// Errors: as append(); timeout (no room in time: nothing was appended); indeterminate
    /// (poisoned while it was in flight: it may be found at the next open, or not).
    Result<Lsn> append_durable(
        std::span<const std::byte> payload, RecordTag tag = {},
        std::chrono::nanoseconds room_timeout = std::chrono::seconds{30});

    /// As LogCore; durable on return. Errors: as append_durable(), out_of_range
    Result<Lsn> truncate_suffix(Lsn keep_through);
    /// As LogCore. Errors: out_of_range, poisoned
    Result<void> release_prefix(Lsn first_live);

    /// Hands the live records `from` to `through` to the sink in order, by the caller's thread.
    /// Errors: out_of_range (released, or not durable); corrupt; io
    Result<void> read(Lsn from, Lsn through, const std::function<void(const RecordView&)>& sink);

    [[nodiscard]] Lsn durable() const;
    [[nodiscard]] Lsn last() const;
    [[nodiscard]] Lsn first_live() const;
    [[nodiscard]] LogStats stats() const;
    /// The first error of the durable path, once there was one.
    [[nodiscard]] std::optional<Error> poison() const;
    /// What open() found.
    [[nodiscard]] const ScanReport& report() const noexcept;
    [[nodiscard]] Engine engine() const noexcept;
    [[nodiscard]] const std::vector<EngineRefusal>& refusals() const noexcept;
    [[nodiscard]] std::uint64_t record_bytes_max() const;

    /// Waits for everything appended, marks the log closed cleanly and ends the flusher. Another
    /// may open the directory afterwards. Errors: poisoned, with the first error
    Result<void> close();

  private:
    std::unique_ptr<Flusher> flusher_;
};

} // namespace promtact::wal
