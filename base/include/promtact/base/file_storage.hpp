// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A Storage over plain system calls: pread, pwrite, fdatasync. Needs nothing of the kernel but
// files, and is what remains where io_uring is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/base/storage_directory.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {

struct FileStorageOptions {
    enum class Direct : std::uint8_t {
        required,  // unsupported where the filesystem has no direct I/O
        preferred, // through the page cache there; limits().direct says which it became
        off,
    };
    Direct direct = Direct::preferred;
    bool read_only = false;
    bool event_fd = false; // offer event_fd()
    std::uint32_t depth = 64;
    std::uint32_t files = 16; // file numbers are below this, 1..1024
};

/// Requests take effect when poll() or wait() is called, in the order they were submitted, each for
/// as long as its system call takes: there is no parallelism. Owned and driven by one thread.
///
/// With direct I/O memory, offsets and lengths are multiples of 4096. A mapping of another process
/// may still hold pages of the same file.
class FileStorage final : public Storage {
  public:
    /// Errors: not_found, denied; unsupported (see Direct); by errno.
    static Result<std::unique_ptr<FileStorage>>
    open(const std::filesystem::path& directory, const FileStorageOptions& options);

    /// Over a directory already opened; event_fd may be none. open() is the usual way.
    FileStorage(StorageDirectory directory, const FileStorageOptions& options, UniqueFd event_fd);

    [[nodiscard]] StorageLimits limits() const override;
    [[nodiscard]] bool submit(const IoOp& op) override;
    [[nodiscard]] std::size_t poll(std::span<IoDone> done) override;
    [[nodiscard]] std::size_t wait(std::span<IoDone> done, std::uint64_t timeout_ns) override;
    [[nodiscard]] int event_fd() const override { return event_fd_.get(); }

    [[nodiscard]] const StorageDirectory& directory() const noexcept { return directory_; }

  private:
    [[nodiscard]] std::int64_t perform(const IoOp& op);
    [[nodiscard]] bool is_valid(const IoOp& op) const noexcept;

    StorageDirectory directory_;
    std::uint32_t depth_;
    UniqueFd event_fd_;
    std::vector<IoOp> queue_{};
};

/// Moves data at offset by pread(2) or pwrite(2), interrupted calls repeated: bytes or -errno.
std::int64_t transfer_at(int fd, IoKind kind, std::span<std::byte> data, std::uint64_t offset);

} // namespace promtact
