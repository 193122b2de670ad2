// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a store shares with its readers and its writer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/wal/snapshot_decoder.hpp>
#include <promtact/wal/snapshot_store.hpp>

#include "snapshot_pump_internal.hpp"
#include "snapshot_zstd_internal.hpp"

namespace promtact::wal {

struct SnapshotStoreState {
    SnapshotPump pump;
    SnapshotStoreOptions options{};
    SnapshotVerdict verdict{};
    std::optional<Error> poison{};
    std::uint64_t highest = 0; // generation of any image seen, damaged ones included
    bool writing = false;
    std::array<bool, snapshot_readers_max> reading{};

    [[nodiscard]] std::uint32_t writer_file() const noexcept { return options.first_file; }
    /// What resume() copies from.
    [[nodiscard]] std::uint32_t leftover_file() const noexcept {
        return options.first_file + 1 + snapshot_readers_max;
    }
    [[nodiscard]] std::uint32_t reader_file(std::size_t slot) const noexcept {
        PROMTACT_ASSERT(slot < snapshot_readers_max);
        return options.first_file + 1 + static_cast<std::uint32_t>(slot);
    }
    /// Keeps the first error and hands it back.
    Error poisoned_by(Error error) {
        if (!poison) poison = error;
        return error;
    }
    /// Errors: poisoned, with the errno of the first error.
    [[nodiscard]] Result<void> alive() const {
        if (!poison) return {};
        return Error{
            Errc::poisoned, poison->sys_errno, "snapshot store, since: " + poison->context};
    }
    void installed(const SnapshotInfo& info, const SnapshotProgress& progress);
    [[nodiscard]] std::optional<Error> prune();
    Result<void> drop_temporary();
};

/// Drives a decoder over one file with a buffer that grows to what the header allows.
class SnapshotScan {
  public:
    SnapshotScan(
        SnapshotPump& pump, std::uint32_t file, std::string name, std::uint64_t file_bytes,
        const SnapshotLimits& limits);

    /// Reads and accepts until something other than `more` happens.
    /// Errors: io; those of SnapshotDecoder::accept, with the name in front.
    Result<SnapshotDecoder::Event> step();

    [[nodiscard]] const SnapshotDecoder& decoder() const noexcept { return decoder_; }
    /// The bytes of the part just accepted, writable as a Storage wants them.
    [[nodiscard]] std::span<std::byte> part() noexcept;
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        return buffer_.memory_bytes() + decoder_.memory_bytes();
    }

  private:
    SnapshotPump* pump_;
    std::uint32_t file_;
    std::string name_;
    SnapshotDecoder decoder_;
    PumpBuffer buffer_;
    std::size_t part_bytes_ = 0;
};

struct SnapshotReaderState {
    SnapshotStoreState* store;
    std::size_t slot;
    SnapshotScan scan;
    std::optional<Error> failed{};
    bool ended = false;

    SnapshotReaderState(SnapshotStoreState& owner, std::size_t at, SnapshotScan started)
        : store(&owner), slot(at), scan(std::move(started)) {}
    SnapshotReaderState(const SnapshotReaderState&) = delete;
    SnapshotReaderState& operator=(const SnapshotReaderState&) = delete;
    ~SnapshotReaderState() { store->reading[slot] = false; }
};

struct SnapshotWriterState {
    SnapshotStoreState* store;
    SnapshotInfo info;
    SnapshotProgress progress{};
    PumpBuffer frame;               // header of the chunk, then its stored bytes
    std::vector<std::byte> plain{}; // the chunk before compression; empty when there is none
    std::optional<ZstdChunk> zstd{};
    std::size_t fill = 0; // payload bytes of the chunk being filled
    bool trailed = false; // the last chunk and the trailer are written
    std::optional<Error> failed{};

    SnapshotWriterState(SnapshotStoreState& owner, SnapshotInfo about);
    SnapshotWriterState(const SnapshotWriterState&) = delete;
    SnapshotWriterState& operator=(const SnapshotWriterState&) = delete;
    ~SnapshotWriterState() { store->writing = false; }

    /// Errors: the one that finished this writer, or that poisoned the store.
    [[nodiscard]] Result<void> usable() const;
    /// Finishes the writer; frees the space when that is what was missing.
    Error fail(Error error);
    Result<void> begin();
    Result<void> take(std::span<const std::byte> payload);
    /// Writes a chunk as it stands in a file of equal header; it was verified.
    Result<void> adopt(std::span<std::byte> chunk, const SnapshotProgress& after);
    Result<void> flush_chunk();
    Result<void> finish_file();
    Result<void> install();

  private:
    [[nodiscard]] std::span<std::byte> room();
    Result<void> put(std::span<std::byte> bytes);
};

} // namespace promtact::wal
