// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A directory that cannot be mistaken for a result and does not outlive its owner for long.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::gates {

/// `.promtact-tmp-<pid>-<number>` inside a parent directory, locked while the owner lives. The
/// destructor removes it with all it holds. After SIGKILL the lock is gone, and reap_stale() of any
/// later run removes the rest.
class TempDirectory {
  public:
    /// Errors: those of mkdir and open, naming the path.
    static Result<TempDirectory> create(const std::filesystem::path& parent);

    TempDirectory(TempDirectory&&) noexcept = default;
    TempDirectory& operator=(TempDirectory&&) noexcept = delete;
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;
    ~TempDirectory();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// For a child process: gives up the inherited lock, so that only the owner's life counts, and
    /// removes nothing.
    void disown() noexcept;
    /// The directory was renamed: forget it.
    void release() noexcept;

  private:
    TempDirectory(std::filesystem::path path, UniqueFd lock) noexcept
        : path_(std::move(path)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    UniqueFd lock_;
};

/// Removes the temporary directories of dead owners directly inside parent. Returns what it
/// removed. Directories of living owners and anything of another name stay.
/// Errors: denied, io, … when one could not be removed; not_found is no error.
Result<std::vector<std::filesystem::path>> reap_stale(const std::filesystem::path& parent);

} // namespace promtact::gates
