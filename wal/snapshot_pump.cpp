// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <memory>
#include <string>

#include <promtact/base/assert.hpp>
#include <promtact/base/bytes.hpp>

#include "snapshot_pump_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint64_t wait_ns = 1'000'000'000;
constexpr std::size_t list_bytes = 64 << 10;
constexpr int interrupted_max = 3;
constexpr int short_max = 1;

bool interrupted(std::int64_t result) noexcept {
    return result == -EAGAIN || result == -EINTR;
}

Error failed(std::int64_t result, std::string_view what, std::string_view name) {
    PROMTACT_ASSERT(result < 0);
    return Error::from_errno(
        static_cast<int>(-result), std::string(what) + " " + std::string(name));
}

} // namespace

PumpBuffer::PumpBuffer(std::size_t bytes, std::size_t alignment) : owner_(bytes + alignment) {
    PROMTACT_ASSERT(std::has_single_bit(alignment));
    void* at = owner_.data();
    std::size_t room = owner_.size();
    PROMTACT_ASSERT(std::align(alignment, bytes, at, room) != nullptr);
    data_ = {static_cast<std::byte*>(at), bytes};
}

Result<std::int64_t> SnapshotPump::call(IoOp op) {
    op.id = next_id_++;
    if (!storage_->submit(op)) {
        return Error{Errc::busy, 0, "the storage has requests in flight that are not ours"};
    }
    std::array<IoDone, 4> done{};
    for (;;) {
        const std::size_t count = storage_->wait(done, wait_ns);
        PROMTACT_ASSERT(count <= done.size());
        if (count == 0) continue; // the buffer is the storage's until it answers
        // An answer to another request would mean that somebody else uses the storage.
        PROMTACT_ASSERT(count == 1);
        PROMTACT_ASSERT(done[0].id == op.id);
        return done[0].result;
    }
}

Result<void> SnapshotPump::simple(const IoOp& op, std::string_view what, std::string_view name) {
    PROMTACT_TRY_ASSIGN(const std::int64_t result, call(op));
    if (result < 0) return failed(result, what, name);
    return {};
}

Result<std::uint64_t> SnapshotPump::create(std::uint32_t file, std::string_view name) {
    PROMTACT_TRY_ASSIGN(
        const std::int64_t result, call({.kind = IoKind::create, .file = file, .name = name}));
    if (result < 0) return failed(result, "create", name);
    return static_cast<std::uint64_t>(result);
}

Result<std::uint64_t> SnapshotPump::open(std::uint32_t file, std::string_view name) {
    PROMTACT_TRY_ASSIGN(
        const std::int64_t result, call({.kind = IoKind::open, .file = file, .name = name}));
    if (result < 0) return failed(result, "open", name);
    return static_cast<std::uint64_t>(result);
}

Result<std::vector<SnapshotPump::Entry>> SnapshotPump::list() {
    std::vector<Entry> entries;
    PumpBuffer buffer(list_bytes, std::max(limits().align_memory, limits().align_offset));
    for (;;) {
        PROMTACT_TRY_ASSIGN(
            const std::int64_t result,
            call({.kind = IoKind::list, .offset = entries.size(), .data = buffer.span()}));
        if (result < 0) return failed(result, "list", "the directory");
        if (result == 0) return entries;
        PROMTACT_ASSERT(static_cast<std::uint64_t>(result) <= buffer.span().size());
        std::string_view rest = text_of(buffer.span().first(static_cast<std::size_t>(result)));
        while (!rest.empty()) {
            const std::size_t end = rest.find('\0');
            if (end == std::string_view::npos || end < 2)
                return Error{Errc::format, 0, "list the directory: no entries"};
            entries.push_back(
                {.name = std::string(rest.substr(1, end - 1)),
                 .regular = rest.front() == DirectoryEntry::regular});
            rest.remove_prefix(end + 1);
        }
    }
}

Result<std::size_t> SnapshotPump::read(
    std::uint32_t file, std::uint64_t offset, std::span<std::byte> data, std::string_view name) {
    PROMTACT_ASSERT(data.size() % limits().align_offset == 0);
    int tries = 0;
    for (;;) {
        PROMTACT_TRY_ASSIGN(
            const std::int64_t result,
            call({.kind = IoKind::read, .file = file, .offset = offset, .data = data}));
        if (interrupted(result) && ++tries <= interrupted_max) continue;
        if (result < 0) return failed(result, "read", name);
        PROMTACT_ASSERT(static_cast<std::uint64_t>(result) <= data.size());
        return static_cast<std::size_t>(result);
    }
}

Result<void> SnapshotPump::write(
    std::uint32_t file, std::uint64_t offset, std::span<std::byte> data, std::string_view name) {
    PROMTACT_ASSERT(!data.empty());
    PROMTACT_ASSERT(data.size() % limits().align_offset == 0);
    PROMTACT_ASSERT(offset % limits().align_offset == 0);
    int tries = 0;
    int shorts = 0;
    for (;;) {
        PROMTACT_TRY_ASSIGN(
            const std::int64_t result,
            call({.kind = IoKind::write, .file = file, .offset = offset, .data = data}));
        if (result == static_cast<std::int64_t>(data.size())) return {};
        if (interrupted(result) && ++tries <= interrupted_max) continue;
        if (result < 0) return failed(result, "write", name);
        PROMTACT_ASSERT(static_cast<std::uint64_t>(result) < data.size());
        if (++shorts <= short_max) continue;
        return Error{
            Errc::short_write, 0,
            "write " + std::string(name) + ": " + std::to_string(result) + " of " +
                std::to_string(data.size()) + " bytes at " + std::to_string(offset) + ", twice"};
    }
}

Result<void>
SnapshotPump::truncate(std::uint32_t file, std::uint64_t bytes, std::string_view name) {
    return simple({.kind = IoKind::truncate, .file = file, .offset = bytes}, "truncate", name);
}

Result<void> SnapshotPump::sync_data(std::uint32_t file, std::string_view name) {
    return simple({.kind = IoKind::sync_data, .file = file}, "fdatasync", name);
}

Result<void> SnapshotPump::rename(std::string_view name, std::string_view new_name) {
    return simple({.kind = IoKind::rename, .name = name, .new_name = new_name}, "rename", name);
}

Result<void> SnapshotPump::unlink(std::string_view name) {
    return simple({.kind = IoKind::unlink, .name = name}, "unlink", name);
}

Result<void> SnapshotPump::sync_dir() {
    return simple({.kind = IoKind::sync_dir}, "fsync of", "the directory");
}

} // namespace promtact::wal
