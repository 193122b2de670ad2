// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Files that are either the old ones or the new ones, never something between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include <promtact/base/result.hpp>

namespace promtact {

/// Creates or replaces the file at path with exactly these bytes, mode 0666 less the umask. A
/// symbolic link at path is replaced, not followed. The directory must exist.
///
/// A file that is not there yet is written without a name (O_TMPFILE) and given its name last, so
/// even SIGKILL leaves nothing. Where the filesystem cannot do that, or a file is replaced, the
/// file passes through a temporary name .<name>.promtact-<pid>-<number>.tmp in the same directory;
/// a SIGKILL in between leaves it to reap_temporaries().
///
/// Durable: yes, when it returns success: content, name and directory were fsynced.
/// Errors: those of the failing call, with its name and the path. No temporary file is left, and
/// the old file is untouched, unless the error came after the rename, from close or from the fsync
/// of the directory; then the new file is complete in place, but a power cut may bring the old one
/// back.
Result<void> write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view text);

/// Removes temporary names in the directory that killed writers left; those of living writers are
/// told apart by their lock and stay. Returns how many were removed.
/// Errors: those of reading the directory and of unlink.
Result<std::uint64_t> reap_temporaries(const std::filesystem::path& directory);

/// Writes all bytes to fd, however many write(2) calls that takes.
/// Errors: those of write; short_write when the kernel accepts nothing. name is for the message.
Result<void> write_all(int fd, std::span<const std::byte> bytes, std::string_view name);

/// Makes names created, renamed or removed in the directory durable.
Result<void> sync_directory(const std::filesystem::path& directory);

} // namespace promtact
