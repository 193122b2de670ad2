// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// One owner per file descriptor.
#pragma once

#include <utility>

#include <promtact/base/result.hpp>

namespace promtact {

/// Owns a file descriptor; the destructor closes it. Use close() where the result of close(2)
/// matters.
class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) noexcept : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        if (this != &other) {
            reset();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    void reset() noexcept;

    /// Closes now. Errors: whatever close(2) reports; the descriptor is gone either way.
    Result<void> close();

  private:
    int fd_ = -1;
};

} // namespace promtact
