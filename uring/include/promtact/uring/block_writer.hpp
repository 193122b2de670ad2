// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Writes blocks through a ring and says "durable" only after the completions that prove it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/uring/ring.hpp>

namespace promtact::uring {

/// How a write becomes durable. Each ends with the device's cache flushed, except write_only.
enum class WriteMode : std::uint8_t {
    separate,         // WRITE_FIXED checked, then FSYNC(DATASYNC) submitted and checked
    linked,           // both submitted at once, the second chained to the first by IOSQE_IO_LINK
    dsync,            // one WRITE_FIXED with RWF_DSYNC
    inline_fdatasync, // WRITE_FIXED checked, then fdatasync(2) by the calling thread
    write_only,       // no flush: NOT durable; for measuring and for negative controls
};
std::string_view to_string(WriteMode mode) noexcept;

struct BlockWriterOptions {
    WriteMode mode = WriteMode::separate;
    std::uint32_t depth = 1;                     // writes in flight at once, 1..4096
    std::uint32_t write_bytes_max = block_bytes; // multiple of 4096
    std::chrono::nanoseconds timeout = std::chrono::seconds{30}; // for one completion
    bool allow_unregistered = false; // go on with plain writes where locked memory is limited
    RingOptions ring{};              // entries is raised to what depth needs
};

/// A finished write of the queued form.
struct WriteDone {
    std::uint64_t tag = 0;
};

struct BlockWriterStats {
    std::uint64_t writes = 0;       // finished
    std::uint64_t flushes = 0;      // FSYNC completions, RWF_DSYNC writes and fdatasync calls
    std::uint64_t short_writes = 0; // remainders resubmitted
    std::uint64_t retries = 0;      // whole writes repeated after -EAGAIN or -EINTR
    std::uint64_t system_calls = 0;
};

/// One block of a group.
struct BlockWrite {
    std::uint64_t offset = 0;
    std::span<const std::byte> data{};
};

/// Owns the file, its ring and the registered buffers. One thread uses it, the one that opened it.
///
/// A write that is refused before submission changes nothing. Any error after submission poisons
/// the writer: what reached the disk is unknown, nothing is retried (a flush that failed once may
/// falsely succeed the second time), and every later call returns Errc::poisoned with the first
/// errno. Two exceptions, both before any flush: -EAGAIN/-EINTR repeats the whole write at the same
/// offset a bounded number of times, and one short write has its remainder resubmitted once.
class BlockWriter {
  public:
    /// Takes a descriptor opened for direct I/O (see open_direct).
    /// Errors: invalid_argument; whatever Ring::open and Ring::register_buffers report.
    static Result<BlockWriter> open(UniqueFd file, const BlockWriterOptions& options);
    /// The same over a given ring. For tests.
    static Result<BlockWriter> over(Ring ring, UniqueFd file, const BlockWriterOptions& options);

    BlockWriter(BlockWriter&&) noexcept = default;
    BlockWriter& operator=(BlockWriter&&) = delete;
    BlockWriter(const BlockWriter&) = delete;
    BlockWriter& operator=(const BlockWriter&) = delete;
    ~BlockWriter();

    /// Writes data at offset and returns when it is durable as options.mode says. The data is
    /// copied. Requires: nothing queued (queued() == 0) Durable:  yes, except in mode write_only
    /// Errors:   invalid_argument (empty, unaligned, longer than write_bytes_max); no_space, io,
    ///           short_write, timeout, cancelled, corrupt (then poisoned).
    Result<void> durable_write(std::uint64_t offset, std::span<const std::byte> data);

    /// Writes all blocks, at most `depth` at once, and when every byte is complete flushes once.
    /// In mode dsync each write carries its own flush. Requires: queued() == 0
    /// Errors: invalid_argument in mode linked, which has no groups; otherwise as durable_write.
    Result<void> durable_write_group(std::span<const BlockWrite> blocks);

    /// Flushes everything written so far: fdatasync(2) in mode inline_fdatasync, otherwise
    /// FSYNC(DATASYNC) through the ring.
    /// Requires: queued() == 0. Durable: yes
    Result<void> flush();

    /// Queued form: prepares one durable write; it reaches the kernel with the next wait().
    /// Errors: busy when queued() == depth; otherwise as durable_write.
    Result<void> queue(std::uint64_t tag, std::uint64_t offset, std::span<const std::byte> data);
    [[nodiscard]] std::uint32_t queued() const noexcept { return queued_; }
    /// Submits and waits until at least one queued write is durable as the mode says; finished ones
    /// are put into out in completion order. Requires: queued() > 0, !out.empty()
    Result<std::size_t> wait(std::span<WriteDone> out);

    /// Waits for all queued writes, drains and ends the ring and closes the file.
    /// Errors: the first error of anything outstanding, or of close(2).
    Result<void> close();

    [[nodiscard]] int fd() const noexcept { return file_.get(); }
    [[nodiscard]] const RingSetup& ring_setup() const noexcept { return ring_.setup(); }
    [[nodiscard]] std::uint32_t alignment() const noexcept { return alignment_; }
    [[nodiscard]] BlockWriterStats stats() const noexcept;
    [[nodiscard]] bool buffers_registered() const noexcept { return registered_; }
    /// Errors: poisoned with the first errno; refused after close().
    [[nodiscard]] Result<void> check_usable() const;
    /// The error that poisoned this writer, if any.
    [[nodiscard]] const std::optional<Error>& first_error() const noexcept { return first_error_; }

  private:
    /// Where the FSYNC of a write stands.
    enum class Sync : std::uint8_t {
        none,
        running, // in the ring, and it covers the whole write
        stale,   // in the ring, but submitted before the write turned out incomplete
        passed,  // answered with success ahead of the write it is chained to
    };
    struct Slot {
        std::uint64_t tag = 0;
        std::uint64_t offset = 0;
        std::uint32_t length = 0;
        std::uint32_t done = 0; // bytes known to be written
        std::uint32_t retries = 0;
        bool flush = false;     // flushes before it is finished
        bool attempted = false; // a write of it was submitted before
        bool resumed = false;   // its one remainder was submitted
        bool writing = false;   // a write of this slot is in the ring
        Sync sync = Sync::none;
    };
    BlockWriter(
        Ring ring, UniqueFd file, AlignedBuffer buffer, const BlockWriterOptions& options,
        std::uint32_t alignment);
    static Result<BlockWriter>
    assemble(Ring ring, UniqueFd file, const BlockWriterOptions& options, std::uint32_t alignment);
    [[nodiscard]] Result<void> check_arguments(const BlockWrite& write) const;
    Result<void> start(std::uint64_t tag, const BlockWrite& write, bool flush);
    Result<void> submit_write(std::uint32_t index);
    Result<void> submit_sync(std::uint32_t index);
    Result<bool> on_write(std::uint32_t index, const Finished& finished);
    Result<bool> on_sync(std::uint32_t index, const Finished& finished);
    Result<bool> on_short_write(std::uint32_t index, const Finished& finished);
    Result<bool> on_all_written(std::uint32_t index);
    Result<std::size_t> collect(std::span<WriteDone> out);
    Result<void> data_sync();
    bool finish(std::uint32_t index);
    Error poison(Error cause);

    UniqueFd file_;
    AlignedBuffer buffer_;
    BlockWriterOptions options_;
    std::uint32_t alignment_ = block_bytes;
    bool registered_ = true;
    std::vector<Slot> slots_;
    std::vector<Finished> finished_;
    std::uint32_t queued_ = 0;
    std::optional<Error> first_error_{};
    BlockWriterStats stats_{};
    Ring ring_; // last: it ends before the buffers do
};

} // namespace promtact::uring
