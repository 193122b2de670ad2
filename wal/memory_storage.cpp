// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <promtact/base/choice.hpp>
#include <promtact/wal/memory_storage.hpp>

namespace promtact::wal {
namespace {

constexpr std::uint32_t file_numbers_max = 4096;

bool has_data(IoKind kind) noexcept {
    return kind == IoKind::read || kind == IoKind::write;
}

} // namespace

MemoryStorage::MemoryStorage(
    disk::Pool& pool, const disk::Image& start, const MemoryStorageOptions& options)
    : options_(options), model_(pool, start) {
    PROMTACT_ASSERT(options.limits.depth >= 1);
    PROMTACT_ASSERT(options.limits.atomic_bytes >= pool.atom_bytes());
}

std::uint32_t MemoryStorage::inode(std::uint32_t file) const noexcept {
    return file < files_.size() ? files_[file] : npos;
}

std::uint64_t MemoryStorage::bytes_used() const noexcept {
    std::uint64_t sum = 0;
    for (const disk::Image::Link& link : model_.issued().links)
        sum += model_.issued().files[link.inode].size;
    return sum;
}

void MemoryStorage::note(Moment moment, const Request& request) {
    if (recording_) trace_.push_back({moment, request});
    if (observer_) observer_(moment, request);
}

bool MemoryStorage::submit(const IoOp& op) {
    if (flight_.size() + ready_.size() >= options_.limits.depth) return false;
    Flight flight{
        .request =
            {.id = op.id,
             .kind = op.kind,
             .file = op.file,
             .offset = op.offset,
             .bytes = op.data.size(),
             .name = std::string(op.name),
             .new_name = std::string(op.new_name)},
        .data = op.data};
    issue(flight);
    flight_.push_back(std::move(flight));
    note(Moment::submitted, flight_.back().request);
    return true;
}

void MemoryStorage::issue(Flight& flight) {
    const Request& request = flight.request;
    for (const Flight& other : flight_)
        if (other.request.id == request.id) flight.refused = EINVAL;
    if (has_data(request.kind)) {
        const auto address = reinterpret_cast<std::uintptr_t>(flight.data.data());
        if (request.offset % options_.limits.align_offset != 0 ||
            request.bytes % options_.limits.align_offset != 0 ||
            address % options_.limits.align_memory != 0) {
            flight.refused = EINVAL;
        }
    }
    if (request.file >= file_numbers_max) flight.refused = EINVAL;
    if (flight.refused != 0) return;
    switch (request.kind) {
    case IoKind::read:
    case IoKind::write:
    case IoKind::sync_data:
    case IoKind::sync_all:
    case IoKind::allocate:
    case IoKind::truncate:
        return issue_content(flight);
    case IoKind::create:
    case IoKind::rename:
    case IoKind::unlink:
        return issue_name(flight);
    case IoKind::sync_dir:
        flight.sync = model_.sync(npos);
        return;
    case IoKind::open:
    case IoKind::list:
        return;
    }
    PROMTACT_UNREACHABLE();
}

void MemoryStorage::issue_content(Flight& flight) {
    const Request& request = flight.request;
    const std::uint32_t node = inode(request.file);
    if (node == npos) {
        flight.refused = EBADF;
        return;
    }
    const std::uint64_t size = model_.issued().files[node].size;
    std::uint64_t wanted = size;
    if (request.kind == IoKind::write) wanted = request.offset + request.bytes;
    if (request.kind == IoKind::allocate) wanted = request.offset;
    if (wanted > size && bytes_used() - size + wanted > options_.capacity_bytes) {
        flight.refused = ENOSPC;
        return;
    }
    if (request.kind == IoKind::write) {
        flight.ticket = model_.write(node, request.offset, flight.data);
    } else if (
        request.kind == IoKind::truncate ||
        (request.kind == IoKind::allocate && request.offset > size)) {
        flight.ticket = model_.resize(node, request.offset);
    } else if (request.kind == IoKind::sync_data || request.kind == IoKind::sync_all) {
        flight.sync = model_.sync(node);
    }
}

void MemoryStorage::issue_name(Flight& flight) {
    const Request& request = flight.request;
    std::uint32_t node = model_.lookup(request.name);
    if (request.kind == IoKind::create) {
        if (node == npos) flight.ticket = model_.create(request.name, node);
        if (request.file >= files_.size()) files_.resize(request.file + 1, npos);
        files_[request.file] = node;
    } else if (node == npos) {
        flight.refused = ENOENT;
    } else if (request.kind == IoKind::rename) {
        flight.ticket = model_.rename(request.name, request.new_name);
    } else {
        flight.ticket = model_.unlink(request.name);
    }
}

std::int64_t MemoryStorage::read(const Flight& flight) const {
    const disk::FileImage& file = model_.completed().files[inode(flight.request.file)];
    const std::uint64_t at = flight.request.offset;
    if (at >= file.size) return 0;
    const std::size_t bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(flight.data.size(), file.size - at));
    const std::size_t unit = model_.pool().atom_bytes();
    std::size_t done = 0;
    while (done < bytes) {
        const std::size_t index = static_cast<std::size_t>((at + done) / unit);
        const std::size_t skip = static_cast<std::size_t>((at + done) % unit);
        const std::size_t piece = std::min(unit - skip, bytes - done);
        const auto atom = model_.pool().bytes(file.atom(index));
        std::memcpy(flight.data.data() + done, atom.data() + skip, piece);
        done += piece;
    }
    return static_cast<std::int64_t>(bytes);
}

std::int64_t MemoryStorage::list(const Flight& flight) const {
    std::vector<std::string_view> names;
    for (const disk::Image::Link& link : model_.completed().links)
        names.push_back(model_.pool().name(link.name));
    std::sort(names.begin(), names.end());
    std::size_t used = 0;
    for (std::size_t i = static_cast<std::size_t>(flight.request.offset); i < names.size(); ++i) {
        if (flight.data.size() - used < names[i].size() + 2) break;
        flight.data[used] = static_cast<std::byte>(DirectoryEntry::regular);
        std::memcpy(flight.data.data() + used + 1, names[i].data(), names[i].size());
        flight.data[used + 1 + names[i].size()] = std::byte{0};
        used += names[i].size() + 2;
    }
    return static_cast<std::int64_t>(used);
}

std::int64_t MemoryStorage::perform(Flight& flight) {
    const Request& request = flight.request;
    if (flight.refused != 0) return -flight.refused;
    if (flight.ticket != 0) model_.complete(flight.ticket);
    switch (request.kind) {
    case IoKind::read:
        return read(flight);
    case IoKind::write:
        return static_cast<std::int64_t>(request.bytes);
    case IoKind::sync_data:
    case IoKind::sync_all:
    case IoKind::sync_dir:
        model_.complete(flight.sync, true);
        return 0;
    case IoKind::create:
        return static_cast<std::int64_t>(model_.completed().files[inode(request.file)].size);
    case IoKind::open: {
        const disk::Image::Link* link = model_.completed().find(model_.pool().name(request.name));
        if (link == nullptr) return -ENOENT;
        if (request.file >= files_.size()) files_.resize(request.file + 1, npos);
        files_[request.file] = link->inode;
        return static_cast<std::int64_t>(model_.completed().files[link->inode].size);
    }
    case IoKind::list:
        return list(flight);
    case IoKind::rename:
    case IoKind::unlink:
    case IoKind::allocate:
    case IoKind::truncate:
        return 0;
    }
    PROMTACT_UNREACHABLE();
}

void MemoryStorage::finish(std::size_t index, std::int64_t result) {
    const Request request = std::move(flight_[index].request);
    ready_.push_back({.id = request.id, .result = result});
    flight_.erase(flight_.begin() + static_cast<std::ptrdiff_t>(index));
    note(Moment::completed, request);
}

void MemoryStorage::complete(std::size_t index) {
    PROMTACT_ASSERT(index < flight_.size());
    finish(index, perform(flight_[index]));
}

void MemoryStorage::complete_badly(std::size_t index, std::int64_t result, std::size_t atoms) {
    PROMTACT_ASSERT(index < flight_.size());
    Flight& flight = flight_[index];
    if (flight.ticket != 0) model_.complete_partly(flight.ticket, atoms);
    const bool sync = flight.request.kind == IoKind::sync_data ||
                      flight.request.kind == IoKind::sync_all ||
                      flight.request.kind == IoKind::sync_dir;
    if (sync) model_.complete(flight.sync, false);
    finish(index, result);
}

std::size_t MemoryStorage::poll(std::span<IoDone> done) {
    std::size_t budget = 0;
    if (options_.order == Order::fifo) budget = flight_.size();
    if (options_.order == Order::seeded && !flight_.empty()) budget = 1;
    for (; budget > 0; --budget) {
        std::size_t index = 0;
        if (options_.order == Order::seeded) {
            const ChoiceStream choose(options_.seed, Purpose::delay, 0);
            index = static_cast<std::size_t>(
                choose.below(ChoicePosition::index(choices_++), flight_.size()));
        }
        complete(index);
    }
    const std::size_t count = std::min(done.size(), ready_.size());
    std::copy_n(ready_.begin(), count, done.begin());
    ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

std::size_t MemoryStorage::wait(std::span<IoDone> done, std::uint64_t) {
    return poll(done);
}

} // namespace promtact::wal
