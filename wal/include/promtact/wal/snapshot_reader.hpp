// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Streams the payload of one image, verified piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <promtact/base/result.hpp>
#include <promtact/wal/snapshot_format.hpp>

namespace promtact::wal {

struct SnapshotReaderState;
struct SnapshotStoreState;

/// One pass over an image. Holds at most one chunk (two when it is compressed), however large the
/// image is. Owned and driven by the thread of its store.
/// Lifetime: the store must outlive it. The image may be pruned meanwhile: it stays readable.
class SnapshotReader {
  public:
    explicit SnapshotReader(std::unique_ptr<SnapshotReaderState> state) noexcept;
    SnapshotReader(SnapshotReader&&) noexcept;
    SnapshotReader& operator=(SnapshotReader&&) noexcept;
    ~SnapshotReader();

    [[nodiscard]] const SnapshotInfo& info() const noexcept;

    /// The next piece of the payload, nothing when the trailer was reached and agrees with all of
    /// it. A consumer must not act on the payload as a whole before that.
    /// Lifetime: until the next call.
    /// Errors: io; corrupt, naming offset and field. Every later call returns the same.
    Result<std::optional<std::span<const std::byte>>> next();

    /// Units: bytes of buffers and contexts held now
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    std::unique_ptr<SnapshotReaderState> state_;
};

} // namespace promtact::wal
