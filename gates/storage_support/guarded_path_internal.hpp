// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A file or directory that needs a name, and yet must not outlive a process killed at any moment.
#pragma once

#include <cstdint>
#include <filesystem>

#include <sys/types.h>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::gates {

/// Keeps a child process that removes the path as soon as this process is gone, however it went; a
/// directory with the files in it. The child stands in a session of its own, so that signals to our
/// process group spare it, and holds none of our descriptors.
class GuardedPath {
  public:
    enum class Kind : std::uint8_t { file, directory };
    /// Requires: this process has one thread. Errors: of pipe(2) and fork(2). The path itself is
    /// not created.
    static Result<GuardedPath> watch(std::filesystem::path path, Kind kind = Kind::file);

    GuardedPath(GuardedPath&& other) noexcept;
    GuardedPath& operator=(GuardedPath&&) = delete;
    GuardedPath(const GuardedPath&) = delete;
    GuardedPath& operator=(const GuardedPath&) = delete;
    /// Has the child remove the path, and waits for it.
    ~GuardedPath();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  private:
    GuardedPath(std::filesystem::path path, UniqueFd alive, pid_t guard)
        : path_(std::move(path)), alive_(std::move(alive)), guard_(guard) {}

    std::filesystem::path path_;
    UniqueFd alive_; // the child sees its end when the last of us is gone
    pid_t guard_;
};

} // namespace promtact::gates
