// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A log's directory as the tools open it: to look, without ever changing it, or to change it alone.
#pragma once

#include <filesystem>
#include <memory>

#include <promtact/base/file_storage.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact::harness {

struct WalDirectory {
    UniqueFd lock{}; // none where there is no LOCK
    std::unique_ptr<FileStorage> storage{};
};

/// Opens nothing for writing. Holds LOCK shared, if there is one: several may look at once, and a
/// program that starts meanwhile finds it busy. Reads past the page cache where that is possible.
/// Errors: invalid_argument (no directory); busy; refused (LOCK is no file of its own); by errno.
Result<WalDirectory> open_wal_to_look(const std::filesystem::path& directory);

/// Holds LOCK alone, making it if need be. Errors: as above.
Result<WalDirectory> open_wal_to_change(const std::filesystem::path& directory);

/// A new directory beside `target` that becomes it when all is done, so that a log is there whole
/// or not at all.
class WalMaking {
  public:
    /// What an earlier one that was killed left is removed.
    /// Errors: exists (the target holds something); busy; refused (what is in the way is not ours).
    static Result<WalMaking> start(const std::filesystem::path& target);

    [[nodiscard]] FileStorage& storage() const noexcept { return *directory_.storage; }
    /// Durable: the name, and everything in it that was synced.
    Result<void> publish();
    /// Removes what was made.
    void abandon() noexcept;

  private:
    std::filesystem::path target_{};
    std::filesystem::path part_{};
    WalDirectory directory_{};
};

} // namespace promtact::harness
