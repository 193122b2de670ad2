// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Streams a payload into a new image and installs it as the newest generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <promtact/base/result.hpp>
#include <promtact/wal/snapshot_format.hpp>

namespace promtact::wal {

struct SnapshotWriterState;

/// What commit() made durable.
struct SnapshotCommit {
    SnapshotInfo info{};
    SnapshotProgress progress{};         // file_bytes is the size of the image
    std::optional<Error> prune_failed{}; // an older generation is still there; nothing is lost
};

/// One image on its way: append() until all is in, then commit(). Holds one chunk (two when it
/// compresses), whatever the image's size. Owned and driven by the thread of its store.
///
/// Destroying it without commit() is what a crash does: the temporary file stays, the store's
/// generations are as before, and the next write() or resume() finds it.
/// Lifetime: the store must outlive it.
class SnapshotWriter {
  public:
    explicit SnapshotWriter(std::unique_ptr<SnapshotWriterState> state) noexcept;
    SnapshotWriter(SnapshotWriter&&) noexcept;
    SnapshotWriter& operator=(SnapshotWriter&&) noexcept;
    ~SnapshotWriter();

    [[nodiscard]] const SnapshotInfo& info() const noexcept;

    /// Payload bytes taken so far. After resume() this is where the sender must go on.
    [[nodiscard]] std::uint64_t offset() const noexcept;

    /// Takes the next bytes of the payload. Durable: no.
    /// Errors: no_space, io, short_write (the writer is finished, the store is not); poisoned;
    /// invalid_argument when this would exceed info().payload_bytes, nothing is taken then.
    Result<void> append(std::span<const std::byte> payload);

    /// Installs the image: trailer, fdatasync, rename, fsync of the directory, in this order, each
    /// after the one before succeeded; then removes generations older than the previous one.
    /// Durable: yes, content and name.
    /// Errors: invalid_argument when the payload is shorter than info().payload_bytes, go on then;
    /// no_space, io, short_write as for append(); the errno of a failed fdatasync, rename or
    /// directory fsync, whose outcome nobody knows: the store is poisoned, and only opening it anew
    /// tells which generation is there.
    Result<SnapshotCommit> commit();

    /// Removes the temporary file. Errors: those of unlink.
    Result<void> discard();

    /// Units: bytes of buffers and contexts held now
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    std::unique_ptr<SnapshotWriterState> state_;
};

} // namespace promtact::wal
