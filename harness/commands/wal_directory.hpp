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

/// What a directory holds, found without making LOCK in it.
enum class WalContent : std::uint8_t {
    nothing, // at most LOCK, and what the making of a log that was cut off left
    log,     // SUPER or a segment
    other,   // only files that are none of a log's
};
/// Errors: as open_wal_to_look, except busy
Result<WalContent> wal_content(const std::filesystem::path& directory);

/// The error of a verb that needs a log where there is none. Requires: content is not log
Error no_wal(const std::filesystem::path& directory, WalContent content);

/// Makes the directory, durably, and gives it to the owner of the one above. Returns whether it
/// made it; false when it was there. Errors: by errno
Result<bool> make_wal_directory(const std::filesystem::path& directory);

/// A new directory beside `target` that becomes it when all is done, so that a log is there whole
/// or not at all. It belongs to the owner of the one above, or of the empty one it takes the place
/// of.
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
