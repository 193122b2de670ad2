// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Frames: building one in a buffer without allocating, and walking the records of one in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <promtact/wal/format.hpp>

namespace promtact::wal {

inline constexpr std::uint32_t record_header_bytes = 16;

/// What travels with a record for its reader; the log does not look at it.
struct RecordTag {
    std::uint16_t type = 0;
    std::uint16_t flags = 0;
    std::uint32_t schema = 0;
    friend bool operator==(const RecordTag&, const RecordTag&) = default;
};

struct RecordView {
    Lsn lsn = 0;
    RecordTag tag{};
    std::span<const std::byte> payload{}; // layout fixed: the 112 bytes
};

/// Blocks a frame of layout variable with this many body bytes takes; 0 when no frame is that big.
std::uint32_t blocks_for_body(std::uint64_t body_bytes) noexcept;
/// Body bytes of a record with this many payload bytes.
constexpr std::uint64_t record_body_bytes(std::uint64_t payload) noexcept {
    return (record_header_bytes + payload + 7) / 8 * 8;
}

/// Fills one buffer with records and closes it as a frame (layout fixed: a run of frames).
class FrameBuilder {
  public:
    /// Lifetime: buffer stays untouched until finish() and as long as the frame is needed.
    /// Requires: buffer.size() is a multiple of 4096, at most 256 blocks
    void start(std::span<std::byte> buffer, Layout layout, Lsn first_lsn) noexcept;

    /// False when the record does not fit; the frame is unchanged. Allocates nothing.
    /// Requires: layout fixed: payload is 112 bytes, whose sequence and checksum are set here
    bool append(std::span<const std::byte> payload, RecordTag tag) noexcept;

    /// Less room than the buffer has. Requires: no record added; whole blocks
    void limit(std::size_t bytes) noexcept;

    [[nodiscard]] std::uint32_t records() const noexcept { return records_; }
    [[nodiscard]] Lsn first_lsn() const noexcept { return first_lsn_; }

    struct Closing {
        std::uint64_t salt = 0;
        Chain prev_chain = 0;
        Lsn durable_lsn = 0;
        std::uint32_t block_no = 0;
    };
    struct Closed {
        std::uint32_t blocks = 0;
        Chain chain = 0; // of the last frame
    };
    /// Pads, checks sums and chains. Allocates nothing. Requires: records() > 0
    Closed finish(const Closing& closing) noexcept;

  private:
    bool append_fixed(std::span<const std::byte> payload) noexcept;
    void move_body(std::uint32_t to) noexcept;
    Closed finish_fixed(const Closing& closing) noexcept;

    std::span<std::byte> buffer_{};
    Layout layout_ = Layout::variable;
    Lsn first_lsn_ = 0;
    std::uint32_t records_ = 0;
    std::uint32_t body_bytes_ = 0;
    std::uint32_t body_at_ = 0;
    std::uint32_t expected_ = 1; // blocks the frame before had
};

/// A frame of one block without records: seal, fence, trunc_suffix, watermark, with two numbers.
Chain encode_control_frame(
    std::span<std::byte, block_bytes> out, Layout layout, FrameKind kind, Lsn first_lsn,
    const FrameBuilder::Closing& closing, std::uint64_t a = 0, std::uint64_t b = 0) noexcept;

/// The numbers of a control frame. Requires: check_body() found nothing wrong
struct ControlBody {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
};
ControlBody
control_body(std::span<const std::byte> frame, const FrameHeader& header, Layout layout) noexcept;

/// Walks the records of a verified frame in place. Lifetime: that of the frame's bytes.
class RecordCursor {
  public:
    /// Requires: check_body(frame, header, layout) == nullptr
    RecordCursor(
        std::span<const std::byte> frame, const FrameHeader& header, Layout layout) noexcept;
    /// False at the end.
    bool next(RecordView& out) noexcept;

  private:
    std::span<const std::byte> rest_{};
    Layout layout_;
    Lsn lsn_;
    std::uint32_t left_;
};

} // namespace promtact::wal
