// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The one storage interface: io_uring, plain files, memory, simulated and faulty disks, and a
// user's own implement it. Completions look exactly like those of io_uring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace promtact {

enum class IoKind : std::uint8_t {
    read,      // fill data from offset; a short count means the end of the file
    write,     // write data at offset; fewer bytes than asked is a legal answer
    sync_data, // fdatasync: content, and the size needed to read it back
    sync_all,  // fsync: content and all of the inode
    create,    // open name, creating it empty when absent, and call it `file` from now on
    rename,    // give name the name new_name, replacing what was there
    unlink,    // remove name; files already opened stay usable
    sync_dir,  // make created, renamed and removed names durable
    allocate,  // reserve space so that the file has at least offset bytes; new bytes read as zero
    truncate,  // make the file exactly offset bytes long
    open, // open the existing name and call it `file` from now on; never creates, never follows
    list, // fill data with the directory's entries, see DirectoryEntry; changes nothing
};

constexpr std::string_view to_string(IoKind kind) noexcept {
    switch (kind) {
    case IoKind::read:
        return "read";
    case IoKind::write:
        return "write";
    case IoKind::sync_data:
        return "sync_data";
    case IoKind::sync_all:
        return "sync_all";
    case IoKind::create:
        return "create";
    case IoKind::rename:
        return "rename";
    case IoKind::unlink:
        return "unlink";
    case IoKind::sync_dir:
        return "sync_dir";
    case IoKind::allocate:
        return "allocate";
    case IoKind::truncate:
        return "truncate";
    case IoKind::open:
        return "open";
    case IoKind::list:
        return "list";
    }
    return "unknown";
}

/// One request. Names are single components of the storage's own directory.
/// Lifetime: data, name and new_name must stay valid and untouched until the completion is polled.
struct IoOp {
    std::uint64_t id = 0; // chosen by the caller, returned in IoDone; unique among those in flight
    IoKind kind = IoKind::read;
    std::uint32_t file = 0; // chosen by the caller at create; unused by rename, unlink, sync_dir
    std::uint64_t offset = 0;
    std::span<std::byte> data{};
    std::string_view name{};
    std::string_view new_name{};
};

/// What list writes into data, entry after entry in byte order of the names: one of these
/// characters, the name, and a zero byte. Only whole entries are written; offset is how many
/// entries to skip, so that a long directory is read in pieces. 0 bytes mean the end.
struct DirectoryEntry {
    static constexpr char regular = 'f'; // a regular file with one link
    static constexpr char other = 'o';   // anything else; open answers -ELOOP
};

/// The answer to one request.
/// result: bytes for read, write and list, the file's size for create and open, 0 for the others,
/// or -errno: open answers -ENOENT for an absent name and -ELOOP for what is not a regular file
/// with one link. create and open of a number already in use let go of what it meant.
struct IoDone {
    std::uint64_t id = 0;
    std::int64_t result = 0;
};

/// What the storage demands and offers; fixed for its lifetime.
struct StorageLimits {
    std::uint32_t align_memory = 1; // address of data, bytes; a power of two
    std::uint32_t align_offset = 1; // offset and size of data, bytes; a power of two
    std::uint32_t atomic_bytes = 1; // an aligned write up to this size is never torn by a crash
    std::uint32_t depth = 1;        // requests in flight before submit() says full
    bool direct = false;            // bypasses the page cache
};

/// Asynchronous storage, owned and driven by one thread.
///
/// Order: requests in flight may take effect and complete in any order. A caller that needs one
/// after the other waits for the first completion before it submits the second.
/// Durable: a sync covers the effects of requests whose completions were polled before the sync was
/// submitted. Everything else may be there after a crash, or not, or in part: whole units of
/// atomic_bytes, in any combination. A name is durable only after sync_dir, even when the file's
/// content is.
/// Errors: only in IoDone::result. After a failed sync nobody knows what is durable, and asking
/// again would be told "yes" without reason: the caller must stop using the files it covered.
class Storage {
  public:
    Storage() = default;
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    /// Waits for or cancels what is in flight: afterwards no data of any request is touched.
    virtual ~Storage() = default;

    [[nodiscard]] virtual StorageLimits limits() const = 0;

    /// Takes the request, or returns false when limits().depth requests are in flight: poll first.
    /// Requires: id not in flight; data aligned to the limits; file created and not reused while in
    /// flight. Breaking these is answered with -EINVAL, never with damage.
    [[nodiscard]] virtual bool submit(const IoOp& op) = 0;

    /// Fills done with completions that are ready, without waiting; returns how many. Each request
    /// that submit() took is answered exactly once.
    [[nodiscard]] virtual std::size_t poll(std::span<IoDone> done) = 0;

    /// Like poll(), but waits until at least one completion is there, timeout_ns passed, or nothing
    /// is in flight. Returns 0 in the last two cases.
    [[nodiscard]] virtual std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) = 0;

    /// A descriptor that turns readable when a completion is ready, for an event loop; -1 when
    /// there is none. The storage keeps owning it.
    [[nodiscard]] virtual int event_fd() const { return -1; }
};

} // namespace promtact
