// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <promtact/base/assert.hpp>
#include <promtact/base/crc32c.hpp>
#include <promtact/wal/snapshot_writer.hpp>

#include "snapshot_store_internal.hpp"

namespace promtact::wal {

SnapshotWriterState::SnapshotWriterState(SnapshotStoreState& owner, SnapshotInfo about)
    : store(&owner), info(std::move(about)),
      frame(
          std::max(
              snapshot_frame_bytes(info.chunk_bytes), snapshot_header_bytes(info.metadata.size())),
          owner.pump.limits().align_memory) {
    PROMTACT_ASSERT(!owner.writing);
    PROMTACT_ASSERT(info.generation > owner.highest);
    owner.writing = true;
    if ((info.incompat & snapshot_incompat_zstd) != 0) {
        plain.resize(info.chunk_bytes);
        zstd.emplace();
    }
}

Result<void> SnapshotWriterState::usable() const {
    PROMTACT_TRY(store->alive());
    if (failed) return Error{Errc::poisoned, failed->sys_errno, "snapshot: " + failed->context};
    return {};
}

Error SnapshotWriterState::fail(Error error) {
    PROMTACT_ASSERT(!failed);
    failed = error;
    // Whoever runs out of space needs it back now; other leftovers may still serve resume().
    if (error.code == Errc::no_space) {
        // The open file would hold its blocks beyond the unlink.
        if (progress.file_bytes > 0) {
            auto freed = store->pump.truncate(store->writer_file(), 0, snapshot_temporary_name);
            if (!freed) error.context += "; and " + freed.error().context;
        }
        auto dropped = store->drop_temporary();
        if (!dropped) error.context += "; and " + dropped.error().context;
    }
    return error;
}

std::span<std::byte> SnapshotWriterState::room() {
    const std::span<std::byte> chunk =
        zstd ? std::span<std::byte>(plain)
             : frame.span().subspan(snapshot_chunk_header_bytes, info.chunk_bytes);
    PROMTACT_ASSERT(chunk.size() == info.chunk_bytes);
    return chunk.subspan(fill);
}

Result<void> SnapshotWriterState::put(std::span<std::byte> bytes) {
    auto written = store->pump.write(
        store->writer_file(), progress.file_bytes, bytes, snapshot_temporary_name);
    if (!written) return fail(std::move(written).error());
    progress.file_bytes += bytes.size();
    return {};
}

Result<void> SnapshotWriterState::begin() {
    PROMTACT_ASSERT(progress.file_bytes == 0);
    auto created = store->pump.create(store->writer_file(), snapshot_temporary_name);
    if (!created) return fail(std::move(created).error());
    store->verdict.leftover = true;
    if (*created != 0) {
        return fail(
            {Errc::exists, 0,
             std::string(snapshot_temporary_name) + ": is there although nobody listed it"});
    }
    const auto header = frame.span().first(snapshot_header_bytes(info.metadata.size()));
    const std::uint32_t crc = encode_snapshot_header(info, header);
    PROMTACT_TRY(put(header));
    progress.chain = crc;
    return {};
}

Result<void> SnapshotWriterState::take(std::span<const std::byte> payload) {
    while (!payload.empty()) {
        const std::span<std::byte> free = room();
        PROMTACT_ASSERT(!free.empty());
        const std::size_t count = std::min(free.size(), payload.size());
        std::memcpy(free.data(), payload.data(), count);
        fill += count;
        payload = payload.subspan(count);
        if (fill == info.chunk_bytes) PROMTACT_TRY(flush_chunk());
    }
    PROMTACT_ASSERT(fill < info.chunk_bytes);
    return {};
}

Result<void> SnapshotWriterState::adopt(std::span<std::byte> chunk, const SnapshotProgress& after) {
    PROMTACT_ASSERT(fill == 0);
    PROMTACT_ASSERT(after.chunks == progress.chunks + 1);
    PROMTACT_TRY(put(chunk));
    PROMTACT_ASSERT(progress.file_bytes == after.file_bytes);
    progress = after;
    return {};
}

Result<void> SnapshotWriterState::flush_chunk() {
    PROMTACT_ASSERT(fill > 0);
    PROMTACT_ASSERT(fill <= info.chunk_bytes);
    const auto stored_area = frame.span().subspan(snapshot_chunk_header_bytes);
    const std::span<const std::byte> payload =
        zstd ? std::span<const std::byte>(plain).first(fill) : stored_area.first(fill);
    const std::uint32_t payload_crc = crc32c_extend(progress.payload_crc, payload);
    SnapshotChunk chunk{
        .payload_offset = progress.payload_bytes,
        .payload_bytes = static_cast<std::uint32_t>(fill),
        .stored_bytes = static_cast<std::uint32_t>(fill),
        .flags = 0,
        .number = static_cast<std::uint32_t>(progress.chunks)};
    if (zstd) {
        // One byte less than the payload: a chunk that does not shrink is stored plain.
        const std::size_t packed = zstd->compress(payload, stored_area.first(fill - 1));
        if (packed > 0) {
            chunk.stored_bytes = static_cast<std::uint32_t>(packed);
            chunk.flags = snapshot_chunk_zstd;
        } else {
            std::memcpy(stored_area.data(), payload.data(), payload.size());
        }
    }
    const auto bytes = frame.span().first(snapshot_frame_bytes(chunk.stored_bytes));
    const std::uint32_t crc = seal_snapshot_chunk(chunk, progress.chain, bytes);
    PROMTACT_TRY(put(bytes));
    progress.payload_bytes += fill;
    progress.payload_crc = payload_crc;
    progress.chunks += 1;
    progress.chain = crc;
    fill = 0;
    return {};
}

Result<void> SnapshotWriterState::finish_file() {
    if (trailed) return {};
    if (fill > 0) PROMTACT_TRY(flush_chunk());
    const auto block = frame.span().first<snapshot_block_bytes>();
    encode_snapshot_trailer(progress, info.generation, block);
    PROMTACT_TRY(put(block));
    trailed = true;
    return {};
}

/// From here on an error leaves the outcome open: nothing is retried, the store is poisoned.
Result<void> SnapshotWriterState::install() {
    PROMTACT_ASSERT(trailed);
    SnapshotPump& pump = store->pump;
    auto synced = pump.sync_data(store->writer_file(), snapshot_temporary_name);
    if (!synced) return store->poisoned_by(std::move(synced).error());
    auto renamed = pump.rename(snapshot_temporary_name, snapshot_name(info.generation));
    // A directory that cannot grow has not changed; of every other failure nobody knows.
    if (!renamed && renamed.error().code == Errc::no_space) return fail(renamed.error());
    if (!renamed) return store->poisoned_by(std::move(renamed).error());
    auto durable = pump.sync_dir();
    if (!durable) return store->poisoned_by(std::move(durable).error());
    return {};
}

// --- the public face -----------------------------------------------------------------------------

SnapshotWriter::SnapshotWriter(std::unique_ptr<SnapshotWriterState> state) noexcept
    : state_(std::move(state)) {
    PROMTACT_ASSERT(state_ != nullptr);
}
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;
SnapshotWriter& SnapshotWriter::operator=(SnapshotWriter&&) noexcept = default;
SnapshotWriter::~SnapshotWriter() = default;

const SnapshotInfo& SnapshotWriter::info() const noexcept {
    return state_->info;
}

std::uint64_t SnapshotWriter::offset() const noexcept {
    return state_->progress.payload_bytes + state_->fill;
}

Result<void> SnapshotWriter::append(std::span<const std::byte> payload) {
    PROMTACT_TRY(state_->usable());
    PROMTACT_ASSERT(!state_->trailed);
    if (payload.size() > state_->info.payload_bytes - offset()) {
        return Error{
            Errc::invalid_argument, 0,
            "snapshot: " + std::to_string(payload.size()) + " more bytes at " +
                std::to_string(offset()) + " exceed the announced " +
                std::to_string(state_->info.payload_bytes)};
    }
    return state_->take(payload);
}

Result<SnapshotCommit> SnapshotWriter::commit() {
    SnapshotWriterState& state = *state_;
    PROMTACT_TRY(state.usable());
    const std::uint64_t announced = state.info.payload_bytes;
    if (announced != snapshot_length_unknown && announced != offset()) {
        return Error{
            Errc::invalid_argument, 0,
            "snapshot: " + std::to_string(offset()) + " of the announced " +
                std::to_string(announced) + " bytes are there"};
    }
    PROMTACT_TRY(state.finish_file());
    PROMTACT_TRY(state.install());
    state.failed = Error{Errc::exists, 0, "it is installed already"};
    state.store->installed(state.info, state.progress);
    return SnapshotCommit{
        .info = state.info, .progress = state.progress, .prune_failed = state.store->prune()};
}

Result<void> SnapshotWriter::discard() {
    PROMTACT_TRY(state_->store->alive());
    if (!state_->store->verdict.leftover) return {};
    if (!state_->failed) state_->failed = Error{Errc::cancelled, 0, "it was discarded"};
    return state_->store->drop_temporary();
}

std::size_t SnapshotWriter::memory_bytes() const noexcept {
    return state_->frame.memory_bytes() + state_->plain.capacity() +
           (state_->zstd ? state_->zstd->memory_bytes() : 0);
}

} // namespace promtact::wal
