// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/units.hpp>

#include "snapshot_store_internal.hpp"

namespace promtact::wal {

SnapshotScan::SnapshotScan(
    SnapshotPump& pump, std::uint32_t file, std::string name, std::uint64_t file_bytes,
    const SnapshotLimits& limits)
    : pump_(&pump), file_(file), name_(std::move(name)), decoder_(file_bytes, limits),
      buffer_(snapshot_block_bytes, pump.limits().align_memory) {
    PROMTACT_ASSERT(snapshot_block_bytes % pump.limits().align_offset == 0);
}

Result<SnapshotDecoder::Event> SnapshotScan::step() {
    for (;;) {
        const SnapshotWant want = decoder_.want();
        const std::size_t room = round_up({want.bytes}, {snapshot_block_bytes}).value;
        if (room > buffer_.span().size()) buffer_ = PumpBuffer(room, pump_->limits().align_memory);
        const std::span<std::byte> bytes = buffer_.span().first(room);
        std::size_t count = 0;
        if (room > 0) {
            PROMTACT_TRY_ASSIGN(count, pump_->read(file_, want.offset, bytes, name_));
        }
        if (count < want.bytes) {
            return Error{
                Errc::io, 0, name_ + ": the file became shorter than it was when it was opened"};
        }
        const std::uint64_t before = decoder_.progress().file_bytes;
        auto event = decoder_.accept(bytes.first(want.bytes));
        if (!event) return Error{event.error().code, 0, name_ + ": " + event.error().context};
        PROMTACT_ASSERT(decoder_.progress().file_bytes >= before);
        part_bytes_ = static_cast<std::size_t>(decoder_.progress().file_bytes - before);
        if (*event != SnapshotDecoder::Event::more) return *event;
    }
}

std::span<std::byte> SnapshotScan::part() noexcept {
    PROMTACT_ASSERT(part_bytes_ > 0);
    PROMTACT_ASSERT(part_bytes_ % snapshot_block_bytes == 0);
    return buffer_.span().first(part_bytes_);
}

// --- reader --------------------------------------------------------------------------------------

SnapshotReader::SnapshotReader(std::unique_ptr<SnapshotReaderState> state) noexcept
    : state_(std::move(state)) {
    PROMTACT_ASSERT(state_ != nullptr);
}
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader& SnapshotReader::operator=(SnapshotReader&&) noexcept = default;
SnapshotReader::~SnapshotReader() = default;

const SnapshotInfo& SnapshotReader::info() const noexcept {
    return state_->scan.decoder().info();
}

Result<std::optional<std::span<const std::byte>>> SnapshotReader::next() {
    using Piece = std::optional<std::span<const std::byte>>;
    SnapshotReaderState& state = *state_;
    if (state.failed) return *state.failed;
    if (state.ended) return Piece{};
    auto event = state.scan.step();
    if (!event) {
        state.failed = event.error();
        return *state.failed;
    }
    PROMTACT_ASSERT(*event != SnapshotDecoder::Event::header);
    state.ended = *event == SnapshotDecoder::Event::end;
    if (state.ended) return Piece{};
    PROMTACT_ASSERT(!state.scan.decoder().payload().empty());
    return Piece{state.scan.decoder().payload()};
}

std::size_t SnapshotReader::memory_bytes() const noexcept {
    return state_->scan.memory_bytes();
}

} // namespace promtact::wal
