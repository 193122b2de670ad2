// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Two generations of snapshots in one directory, replaced so that a crash at any point leaves the
// old newest one or the new one, whole. wal/SNAPSHOT_FORMAT.md
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/wal/snapshot_format.hpp>
#include <promtact/wal/snapshot_reader.hpp>
#include <promtact/wal/snapshot_writer.hpp>

namespace promtact::wal {

/// The name of an image on its way. There is one at most.
inline constexpr std::string_view snapshot_temporary_name = "snapshot.tmp";
/// "snapshot-00000000000000ff.snap"
std::string snapshot_name(std::uint64_t generation);
/// The generation of an image's name; nothing for every other name.
std::optional<std::uint64_t> parse_snapshot_name(std::string_view name) noexcept;

inline constexpr std::uint32_t snapshot_readers_max = 7;
/// File numbers of the Storage a store uses, from SnapshotStoreOptions::first_file on.
inline constexpr std::uint32_t snapshot_store_files = 2 + snapshot_readers_max;

struct SnapshotStoreOptions {
    SnapshotId cluster{}; // an image of another cluster is refused
    std::uint32_t first_file = 0;
    bool read_only = false; // for tools: not even the directory is synced
    SnapshotLimits limits{};
};

/// What open() found. Everything that is not `newest` has its reason here.
struct SnapshotVerdict {
    struct PassedOver {
        std::string name{};
        Error why{};
    };
    std::optional<SnapshotInfo> newest{};  // nothing in a directory without images
    SnapshotProgress progress{};           // its sizes
    std::vector<PassedOver> passed_over{}; // newer than `newest`, damaged; never removed by us
    std::vector<std::string> older{};      // not looked into; newest first
    bool leftover = false;                 // an interrupted install; the next writer removes it
    std::vector<std::string> strangers{};  // names like ours that are not ours; never touched

    /// The same in sentences, one a line.
    [[nodiscard]] std::string words() const;
};

/// The snapshots of one directory. Owned and driven by one thread, and blocks it: a node writes its
/// snapshots on a thread and a Storage of their own.
///
/// A failed fdatasync, rename or directory fsync poisons the store: reading goes on, every later
/// write() fails with the first errno, nothing is tried again.
/// Lifetime: storage must outlive the store, the store its readers and its writer.
class SnapshotStore {
  public:
    /// Reads every chunk of the newest image that can be believed. Nothing is written, created or
    /// removed; unless read_only the directory is synced, because a name that a killed process left
    /// may not be durable yet.
    /// Requires: the caller has locked the storage's directory
    ///
    /// Errors: corrupt when there are images and none can be believed, with the reason of each; io
    /// when one cannot be read, which proves nothing about its content; unsupported or format for
    /// an intact image this build cannot read (no older one is taken instead: history would go
    /// back); refused for an intact one of another cluster and for a name of ours that is no
    /// regular file; invalid_argument for a storage whose
    /// alignment does not divide 4096.
    static Result<SnapshotStore> open(Storage& storage, const SnapshotStoreOptions& options);

    SnapshotStore(SnapshotStore&&) noexcept;
    SnapshotStore& operator=(SnapshotStore&&) noexcept;
    ~SnapshotStore();

    /// As found by open(), and brought up to date by each commit().
    [[nodiscard]] const SnapshotVerdict& verdict() const noexcept;
    /// The error that stopped writing, if any.
    [[nodiscard]] const std::optional<Error>& poison() const noexcept;

    /// Streams the newest image. Errors: not_found when there is none; busy when
    /// snapshot_readers_max readers exist; those of reading its header.
    Result<SnapshotReader> read();
    /// Streams the image of a generation, for instance the older one.
    /// Errors: not_found when there is no such name; otherwise as read().
    Result<SnapshotReader> read(std::uint64_t generation);

    /// Starts a new image; a leftover is removed first. info.generation is set by the store.
    /// Errors: poisoned; busy (a writer exists); refused when info.index is below the newest
    /// image's, info.cluster is another, or the store is read_only; unsupported when the newest
    /// image has an unknown ro_compat bit; those of check_snapshot_info(); no_space, io.
    Result<SnapshotWriter> write(SnapshotInfo info);

    /// Goes on with a leftover whose header says the same as info, image id included: offset() is
    /// behind its last whole chunk that verified. Otherwise starts anew, as write().
    ///
    /// What verified is copied into a new file: a flush of the old one may have failed, and then
    /// its page cache shows what its disk does not have and no later flush vouches for. A crash
    /// during the copy keeps what was copied. Requires: info.payload_bytes is known
    Result<SnapshotWriter> resume(SnapshotInfo info);

    /// Removes the leftover of an interrupted install. Errors: poisoned, busy, refused; those of
    /// unlink and of the directory fsync.
    Result<void> remove_leftover();

  private:
    explicit SnapshotStore(std::unique_ptr<SnapshotStoreState> state) noexcept;
    Result<void> may_write(const SnapshotInfo& info) const;

    std::unique_ptr<SnapshotStoreState> state_;
};

} // namespace promtact::wal
