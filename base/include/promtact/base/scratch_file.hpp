// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A file that has no name, so that it is gone when its last descriptor is, even after SIGKILL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {

class ScratchFile {
  public:
    /// An empty file on the filesystem of `directory`, opened O_RDWR | flags (for example
    /// O_DIRECT). Where the filesystem has no O_TMPFILE, a file promtact-scratch-* is created and
    /// unlinked at once; a process killed between the two leaves that empty file, and the next
    /// create() in the directory removes it.
    /// Errors: not_found, denied, no_space, read-only target (system, EROFS); unsupported when the
    /// filesystem refuses O_DIRECT, or accepts it but keeps its files in memory (tmpfs).
    static Result<ScratchFile> create(const std::filesystem::path& directory, int flags = 0);

    [[nodiscard]] int fd() const noexcept { return file_.get(); }
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

    /// A second, independent descriptor of the same file (own offset, own flags), through
    /// /proc/self/fd. Errors: of open(2); unsupported without /proc.
    [[nodiscard]] Result<UniqueFd> reopen(int flags) const;

    /// As promtact::fill_with_zeros().
    Result<void> fill_with_zeros(std::uint64_t bytes);

  private:
    ScratchFile(UniqueFd file, std::filesystem::path directory)
        : file_(std::move(file)), directory_(std::move(directory)) {}

    UniqueFd file_;
    std::filesystem::path directory_;
};

/// A second descriptor of any open file, as ScratchFile::reopen().
Result<UniqueFd> reopen_descriptor(int fd, int flags);

/// Reserves `bytes` from the start of the file and writes zeros over all of them, then syncs: later
/// writes there change no metadata. name: for messages. Errors: no_space, io.
/// Requires: bytes % 4096 == 0
Result<void> fill_with_zeros(int fd, std::uint64_t bytes, const std::string& name);

namespace detail {
/// The fallback of ScratchFile::create(), for its test.
Result<UniqueFd> create_unlinked(const std::filesystem::path& directory, int flags);
} // namespace detail

} // namespace promtact
