// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads an image front to back without holding more than one chunk. Pure: it says which bytes it
// wants and is handed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/wal/snapshot_format.hpp>

namespace promtact::wal {

class ZstdChunk;

/// Bytes [offset, offset + bytes) of the file; fewer only where the file ends.
struct SnapshotWant {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
};

/// The reader's state machine: want(), read that, accept() it, until `end` or an error.
///
///     SnapshotDecoder decoder(file_bytes);
///     while (!decoder.done()) { … read(decoder.want(), buffer); decoder.accept(buffer) … }
class SnapshotDecoder {
  public:
    enum class Event : std::uint8_t {
        more,   // nothing yet: ask want() again
        header, // info() is valid
        chunk,  // payload() holds the next piece
        end,    // the trailer agrees with everything read; the file ends here
    };

    explicit SnapshotDecoder(std::uint64_t file_bytes, const SnapshotLimits& limits = {});
    SnapshotDecoder(SnapshotDecoder&&) noexcept;
    SnapshotDecoder& operator=(SnapshotDecoder&&) noexcept;
    ~SnapshotDecoder();

    /// What to read next; whole blocks except at the end of a file that is no multiple of them.
    /// Requires: !done()
    [[nodiscard]] SnapshotWant want() const noexcept;

    /// Takes exactly the wanted bytes. After an error the decoder is done and says nothing more.
    /// Errors: those of snapshot_format.hpp; corrupt when the file is longer than the image.
    /// Requires: !done(); bytes.size() == want().bytes
    Result<Event> accept(std::span<const std::byte> bytes);

    [[nodiscard]] bool done() const noexcept { return state_ == State::done; }
    /// Requires: Event::header was returned
    [[nodiscard]] const SnapshotInfo& info() const noexcept;
    /// The payload of the chunk just accepted. Lifetime: until the next accept() or until the bytes
    /// given to it change.
    [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }
    /// What was verified so far; file_bytes is where the next part begins.
    [[nodiscard]] const SnapshotProgress& progress() const noexcept { return progress_; }
    /// Memory held for decompression. Units: bytes
    [[nodiscard]] std::size_t memory_bytes() const noexcept;

  private:
    enum class State : std::uint8_t { header, body, done };

    Result<Event> accept_header(std::span<const std::byte> bytes);
    Result<Event> accept_body(std::span<const std::byte> bytes);
    Result<Event> accept_chunk(const SnapshotChunk& chunk, std::span<const std::byte> frame);
    Result<Event> accept_trailer(std::span<const std::byte> block);

    std::uint64_t file_bytes_;
    SnapshotLimits limits_;
    State state_ = State::header;
    std::uint32_t want_bytes_ = snapshot_block_bytes;
    std::optional<SnapshotInfo> info_{};
    SnapshotProgress progress_{};
    std::span<const std::byte> payload_{};
    std::vector<std::byte> plain_{}; // one decompressed chunk
    std::unique_ptr<ZstdChunk> zstd_{};
};

} // namespace promtact::wal
