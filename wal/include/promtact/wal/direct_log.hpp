// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log of 4,096-byte blocks written by direct I/O through io_uring: target promtact::wal_uring.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/block_writer.hpp>
#include <promtact/wal/recovery.hpp>

namespace promtact::wal {

struct DirectLogOptions {
    uring::WriteMode mode = uring::WriteMode::separate;
    /// Records that may wait for one sync(), 1..1024. Above 1, damage within the last `batch`
    /// records cannot be told from a crash (see RecoveryScan); open with the value of the writer.
    std::uint32_t batch = 1;
    std::uint64_t preallocate_blocks = 0; // zero-written at create(); appending then never grows it
    DecodeMode decode = DecodeMode::strict;
    std::chrono::nanoseconds timeout = std::chrono::seconds{30};
    std::chrono::milliseconds lock_wait{1000}; // requests of a killed process hold its lock a while

    /// Makes the writer over the log's descriptor. For tests; default: BlockWriter::open.
    using MakeWriter = std::function<Result<uring::BlockWriter>(
        UniqueFd file, const uring::BlockWriterOptions& options)>;
    MakeWriter make_writer{};
};

/// The one writer of a log file, which it holds an exclusive flock on. Fail-stop: after an error on
/// the durable path every later call returns Errc::poisoned with the first errno.
class DirectLog {
  public:
    /// A new empty log, whose name is durable on return.
    /// Errors: exists; not_found (directory); unsupported (no O_DIRECT); no_space; by errno. A file
    /// made by a failed create() is removed again.
    static Result<DirectLog>
    create(const std::filesystem::path& path, const DirectLogOptions& options);

    /// Recovers an existing log: reads it through O_DIRECT, keeps the longest valid prefix, cuts a
    /// torn tail and makes the cut durable.
    /// Errors: not_found; busy (another process has it open); corrupt and format (see RecoveryScan;
    /// the file is left untouched); io (a read error is never an empty log); unsupported.
    static Result<DirectLog>
    open(const std::filesystem::path& path, const DirectLogOptions& options);

    DirectLog(DirectLog&&) noexcept = default;
    DirectLog& operator=(DirectLog&&) = delete;
    DirectLog(const DirectLog&) = delete;
    DirectLog& operator=(const DirectLog&) = delete;
    ~DirectLog() = default;

    /// What open() found; default values after create().
    [[nodiscard]] const Recovery& recovery() const noexcept { return recovery_; }
    [[nodiscard]] std::uint64_t last_sequence() const noexcept { return last_sequence_; }
    [[nodiscard]] std::uint64_t durable_sequence() const noexcept { return durable_sequence_; }

    /// Adds a record after the last; its sequence field is assigned here and returned.
    /// Durable: no; call sync(). A full batch is synced first.
    /// Errors: those of sync().
    Result<std::uint64_t> append(Record record);

    /// Makes every appended record durable: one write per record, then one flush (modes linked and
    /// dsync: one each). Durable: yes, except in mode write_only
    /// Errors: as BlockWriter::durable_write; the records are then not durable and the log stops.
    Result<void> sync();

    /// Syncs, drains and closes. Errors: as sync(); of close(2).
    Result<void> close();

    [[nodiscard]] uring::BlockWriterStats stats() const noexcept { return writer_.stats(); }
    [[nodiscard]] const uring::RingSetup& ring_setup() const noexcept {
        return writer_.ring_setup();
    }

  private:
    DirectLog(uring::BlockWriter writer, const DirectLogOptions& options, Recovery recovery);
    static Result<DirectLog>
    start(UniqueFd file, const DirectLogOptions& options, const Recovery& recovery);
    Result<void> write_one_by_one();
    Result<void> write_as_group();
    [[nodiscard]] std::span<const std::byte> block(std::size_t index) const;

    uring::BlockWriter writer_;
    DirectLogOptions options_;
    Recovery recovery_{};
    std::vector<Record> pending_{};
    std::vector<std::byte> blocks_{}; // encode buffer of one batch
    std::uint64_t last_sequence_ = 0;
    std::uint64_t durable_sequence_ = 0;
};

/// Reads a log through its own O_DIRECT descriptor, takes no lock, changes nothing, and hands each
/// believed record to `sink` in order. The sink sees records before damage further on is found: act
/// on them only when the call returns success. Only mode and batch of the options matter.
/// Errors: as DirectLog::open.
Result<Recovery> read_direct_log(
    const std::filesystem::path& path, const DirectLogOptions& options,
    const std::function<void(const Record&)>& sink);

} // namespace promtact::wal
