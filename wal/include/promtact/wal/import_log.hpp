// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Reads the two log files of the Go reference. Nothing is ever written to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <promtact/base/result.hpp>
#include <promtact/wal/recovery.hpp>

namespace promtact::wal {

/// flat: records of 112 bytes back to back, as its file device writes them.
/// blocks: one record per 4096-byte block, as its io_uring device does. wal/FORMAT.md
enum class ImportLayout : std::uint8_t { flat, blocks };

/// Bytes one record occupies in the file.
constexpr std::size_t import_slot_bytes(ImportLayout layout) noexcept {
    return layout == ImportLayout::flat ? record_bytes : block_bytes;
}

/// Which layout a file has, from its first 4096 bytes (fewer when it is shorter): blocks when bytes
/// 112..4095 are zero, flat when a second record follows. nullopt when the bytes do not tell.
std::optional<ImportLayout> guess_import_layout(std::span<const std::byte> first_block) noexcept;

/// Takes a log file in pieces of any size and finds its longest valid prefix by the rules of
/// RecoveryScan: an unreadable end is a torn tail, an intact record behind an unreadable one is
/// damage. The reference itself refuses every full-length torn tail; this reads what stands before
/// it. Holds one record's slot, whatever the file's size.
class LogImporter {
  public:
    using Sink = std::function<Result<void>(const Record&)>;

    /// The sink sees believed records in order, before damage further on is found: act on them
    /// only after finish().
    /// window: as RecoveryScan's, for block logs whose writer flushed several records at once.
    LogImporter(ImportLayout layout, DecodeMode mode, Sink sink, std::uint32_t window = 1);

    /// The next bytes of the file.
    /// Errors: corrupt, format, naming the record's byte offset and what is wrong with it; those of
    /// the sink. Final: every later call returns the same.
    Result<void> feed(std::span<const std::byte> bytes);

    /// The file ends here. Errors: the one feed() returned.
    Result<Recovery> finish();

  private:
    Result<void> take_slot();
    [[nodiscard]] Error damage(const Error& found, std::span<const std::byte> record) const;

    ImportLayout layout_;
    DecodeMode mode_;
    Sink sink_;
    RecoveryScan scan_;
    std::array<std::byte, block_bytes> slot_{};
    std::size_t fill_ = 0;
    std::uint64_t slots_ = 0;
    std::optional<std::uint64_t> hole_{}; // the first slot without an intact record
    std::optional<Error> failed_{};
};

} // namespace promtact::wal
