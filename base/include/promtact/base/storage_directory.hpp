// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The directory of a Storage that lives on a filesystem: its files by number, its names. What is
// common to every Storage over real files; reading, writing and syncing files is theirs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {

class StorageDirectory {
  public:
    struct Options {
        bool direct = true;       // open files with O_DIRECT
        bool read_only = false;   // whatever would change something is answered with -EROFS
        std::uint32_t files = 16; // file numbers are below this, 1..1024
    };

    /// Errors: not_found, denied, by errno: of open(2) on the directory, which is not created.
    static Result<StorageDirectory> open(const std::filesystem::path& path, const Options& options);

    [[nodiscard]] int fd() const noexcept { return directory_.get(); }
    [[nodiscard]] bool direct() const noexcept { return options_.direct; }
    [[nodiscard]] bool read_only() const noexcept { return options_.read_only; }
    [[nodiscard]] std::uint32_t files() const noexcept { return options_.files; }
    /// The descriptor behind a number; -1 when there is none.
    [[nodiscard]] int file(std::uint32_t number) const noexcept;
    /// Units: bytes. What the disk below writes whole, as far as it says so; 512 otherwise.
    [[nodiscard]] std::uint32_t atomic_bytes() const noexcept { return atomic_bytes_; }

    /// Carries out a request that is not a read, write or sync of a file, and returns what
    /// IoDone::result must say. Blocks as long as the system calls take.
    /// A file that create makes is given to the directory's owner, as far as that is allowed.
    /// Requires: op.kind is create, open, rename, unlink, sync_dir, allocate, truncate or list
    [[nodiscard]] std::int64_t perform(const IoOp& op);

    /// Whether O_DIRECT files can be made here: tried with a nameless file.
    /// Errors: unsupported (tmpfs and others without direct I/O); by errno.
    [[nodiscard]] Result<void> probe_direct() const;

  private:
    StorageDirectory(UniqueFd directory, const Options& options, std::uint32_t atomic_bytes);
    std::int64_t open_file(const IoOp& op, bool create);
    std::int64_t rename(const IoOp& op);
    std::int64_t list(const IoOp& op) const;
    std::int64_t resize(const IoOp& op);

    UniqueFd directory_;
    Options options_;
    std::uint32_t atomic_bytes_;
    std::vector<UniqueFd> files_;
};

} // namespace promtact
