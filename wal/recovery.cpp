// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <promtact/base/assert.hpp>
#include <promtact/wal/recovery.hpp>

namespace promtact::wal {

std::string_view to_string(Tail tail) noexcept {
    switch (tail) {
    case Tail::clean:
        return "clean";
    case Tail::zeros:
        return "zeros";
    case Tail::torn:
        return "torn";
    }
    PROMTACT_UNREACHABLE();
}

RecoveryScan::RecoveryScan(DecodeMode mode, std::uint32_t window) noexcept
    : mode_(mode), window_(window) {
    PROMTACT_ASSERT(window >= 1);
}

void RecoveryScan::on_hole(std::uint64_t number, const std::string& cause) {
    if (hole_) return;
    hole_ = number;
    hole_cause_ = cause;
    PROMTACT_ASSERT(records_ == number);
}

Result<std::optional<Record>> RecoveryScan::on_record(std::uint64_t number, const Record& record) {
    if (record.sequence != number + 1) {
        return Error{
            Errc::corrupt, 0,
            "block " + std::to_string(number) + " holds sequence " +
                std::to_string(record.sequence) + " where " + std::to_string(number + 1) +
                " must be"};
    }
    if (!hole_) {
        PROMTACT_ASSERT(records_ == number);
        ++records_;
        return std::optional<Record>{record};
    }
    if (number - *hole_ < window_) { // unflushed together with the missing one
        torn_ = true;
        return std::optional<Record>{};
    }
    return Error{
        Errc::corrupt, 0,
        "block " + std::to_string(*hole_) + " is damaged (" + hole_cause_ + ") and block " +
            std::to_string(number) + " behind it holds an intact record: this is not a torn tail"};
}

Result<std::optional<Record>> RecoveryScan::feed(std::span<const std::byte, block_bytes> block) {
    PROMTACT_ASSERT(incomplete_bytes_ == 0);
    const std::uint64_t number = blocks_++;
    const DecodedBlock decoded = decode_block(block, mode_);
    switch (decoded.state) {
    case BlockState::intact:
        return on_record(number, decoded.record);
    case BlockState::zero:
        on_hole(number, "it is all zero");
        return std::optional<Record>{};
    case BlockState::damaged:
        on_hole(number, decoded.why.context);
        torn_ = true;
        return std::optional<Record>{};
    case BlockState::foreign:
        return Error{
            decoded.why.code, 0, "block " + std::to_string(number) + ": " + decoded.why.context};
    }
    PROMTACT_UNREACHABLE();
}

void RecoveryScan::feed_incomplete(std::size_t bytes) noexcept {
    PROMTACT_ASSERT(bytes > 0);
    PROMTACT_ASSERT(bytes < block_bytes);
    PROMTACT_ASSERT(incomplete_bytes_ == 0);
    incomplete_bytes_ = bytes;
    torn_ = true;
    if (!hole_) hole_ = blocks_;
}

Recovery RecoveryScan::finish() const noexcept {
    PROMTACT_ASSERT(records_ <= blocks_);
    PROMTACT_ASSERT(hole_.has_value() || records_ == blocks_);
    Recovery recovery;
    recovery.records = records_;
    recovery.valid_bytes = records_ * block_bytes;
    recovery.file_bytes = blocks_ * block_bytes + incomplete_bytes_;
    if (torn_) {
        recovery.tail = Tail::torn;
        recovery.torn_block = hole_;
    } else if (hole_) {
        recovery.tail = Tail::zeros;
    }
    return recovery;
}

} // namespace promtact::wal
