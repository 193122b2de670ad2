// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/wal/import_log.hpp>

namespace promtact::wal {
namespace {

bool all_zero(std::span<const std::byte> bytes) noexcept {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

} // namespace

std::optional<ImportLayout> guess_import_layout(std::span<const std::byte> first_block) noexcept {
    if (first_block.size() < record_bytes || !checksum_matches(first_block.first(record_bytes)))
        return std::nullopt;
    const auto rest = first_block.subspan(record_bytes);
    if (rest.size() >= record_bytes && checksum_matches(rest.first(record_bytes)))
        return ImportLayout::flat;
    // A flat log whose second record was never written is not told from a block log, unless the
    // file has the size of one.
    if (first_block.size() < block_bytes) return ImportLayout::flat;
    if (all_zero(rest)) return ImportLayout::blocks;
    return std::nullopt;
}

LogImporter::LogImporter(ImportLayout layout, DecodeMode mode, Sink sink, std::uint32_t window)
    : layout_(layout), mode_(mode), sink_(std::move(sink)), scan_(mode, window) {
    PROMTACT_ASSERT(sink_ != nullptr);
    static_assert(import_slot_bytes(ImportLayout::flat) < block_bytes);
}

Result<void> LogImporter::feed(std::span<const std::byte> bytes) {
    const std::size_t slot_bytes = import_slot_bytes(layout_);
    while (!bytes.empty()) {
        if (failed_) return *failed_;
        PROMTACT_ASSERT(fill_ < slot_bytes);
        const std::size_t count = std::min(slot_bytes - fill_, bytes.size());
        std::memcpy(slot_.data() + fill_, bytes.data(), count);
        fill_ += count;
        bytes = bytes.subspan(count);
        if (fill_ < slot_bytes) continue;
        fill_ = 0;
        auto taken = take_slot();
        if (!taken) failed_ = std::move(taken).error();
    }
    if (failed_) return *failed_;
    return {};
}

/// A flat record is judged as the block that would hold it: slot_ is zero behind it.
Result<void> LogImporter::take_slot() {
    PROMTACT_DEBUG_ASSERT(
        layout_ == ImportLayout::blocks || all_zero(std::span(slot_).subspan(record_bytes)));
    auto record = scan_.feed(slot_);
    if (!record) return damage(record.error(), std::span(slot_).first(record_bytes));
    if (!record->has_value() && !hole_) hole_ = slots_;
    ++slots_;
    if (!record->has_value()) return {};
    return sink_(**record);
}

Error LogImporter::damage(const Error& found, std::span<const std::byte> record) const {
    const auto at = [this](std::uint64_t slot) {
        return "record " + std::to_string(slot) + " at byte " +
               std::to_string(slot * import_slot_bytes(layout_));
    };
    const std::string here =
        std::string(layout_ == ImportLayout::flat ? "flat log, " : "block log, ") + at(slots_);
    auto decoded = decode(record, mode_);
    if (!decoded) return {decoded.error().code, 0, here + ": " + decoded.error().context};
    if (decoded->sequence != slots_ + 1) {
        return {
            found.code, 0,
            here + ": sequence (byte 12) is " + std::to_string(decoded->sequence) + " where " +
                std::to_string(slots_ + 1) + " must be; the records before byte " +
                std::to_string(slots_ * import_slot_bytes(layout_)) +
                " stand: cut a copy of the file there to keep them, or restore it"};
    }
    if (hole_) {
        return {
            found.code, 0,
            here + ": is intact, but " + at(*hole_) +
                " in front of it is damaged: this is not a torn tail"};
    }
    return {found.code, 0, here + ": " + found.context};
}

Result<Recovery> LogImporter::finish() {
    if (failed_) return *failed_;
    if (fill_ > 0) {
        scan_.feed_incomplete(fill_);
        fill_ = 0;
    }
    Recovery recovery = scan_.finish();
    const std::size_t slot_bytes = import_slot_bytes(layout_);
    // The scan counts blocks; the file has slots.
    const std::uint64_t rest = recovery.file_bytes % block_bytes;
    recovery.file_bytes = recovery.file_bytes / block_bytes * slot_bytes + rest;
    recovery.valid_bytes = recovery.records * slot_bytes;
    PROMTACT_ASSERT(recovery.valid_bytes <= recovery.file_bytes);
    return recovery;
}

} // namespace promtact::wal
