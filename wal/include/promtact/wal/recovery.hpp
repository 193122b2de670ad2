// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Decides which prefix of a block log can be believed. Pure: it is fed blocks and opens nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/result.hpp>
#include <promtact/wal/block.hpp>

namespace promtact::wal {

/// What follows the last believed record.
enum class Tail : std::uint8_t {
    clean, // nothing
    zeros, // only zero blocks: preallocated space, or a write of which nothing reached the disk
    torn,  // at least one damaged block or an incomplete one, and no intact record behind it
};
std::string_view to_string(Tail tail) noexcept;

struct Recovery {
    std::uint64_t records = 0;     // believed; their sequences are 1 .. records
    std::uint64_t valid_bytes = 0; // records * 4096
    std::uint64_t file_bytes = 0;
    Tail tail = Tail::clean;
    std::optional<std::uint64_t> torn_block{}; // the first damaged or incomplete one
};

/// Takes the blocks of a log in order and finds the longest valid prefix.
///
/// A run of unreadable blocks at the end is a torn tail, a legal outcome of a crash: the prefix
/// before it stands. An intact record behind an unreadable block, a sequence that does not follow,
/// or a block that was written whole but is not acceptable is damage no crash explains: an error
/// naming the block, and nothing of the log is believed.
///
/// `window` is how many records the writer had unflushed at once. Their blocks reach the disk in
/// any order, so within that many blocks of the first unreadable one an intact record proves
/// nothing and belongs to the torn tail. With 1 every damage in front of a record is told apart.
class RecoveryScan {
  public:
    /// Requires: window >= 1
    explicit RecoveryScan(DecodeMode mode = DecodeMode::strict, std::uint32_t window = 1) noexcept;

    /// The record of this block when it extends the valid prefix, nothing when it does not.
    /// Errors: corrupt (block number, cause); format (version or fields we do not read). Final.
    Result<std::optional<Record>> feed(std::span<const std::byte, block_bytes> block);

    /// The leftover after the last full block, 0 < bytes < 4096. Must be the last input.
    void feed_incomplete(std::size_t bytes) noexcept;

    [[nodiscard]] Recovery finish() const noexcept;

  private:
    Result<std::optional<Record>> on_record(std::uint64_t number, const Record& record);
    void on_hole(std::uint64_t number, const std::string& cause);

    DecodeMode mode_;
    std::uint32_t window_;
    std::uint64_t blocks_ = 0;
    std::uint64_t records_ = 0;
    std::optional<std::uint64_t> hole_{}; // the first unreadable block
    std::string hole_cause_{};
    bool torn_ = false;
    std::size_t incomplete_bytes_ = 0;
};

} // namespace promtact::wal
