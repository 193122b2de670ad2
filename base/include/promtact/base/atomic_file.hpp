// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Files that are either the old ones or the new ones, never something between.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include <promtact/base/result.hpp>

namespace promtact {

/// Creates or replaces the file at path with exactly these bytes, mode 0666 less the umask. A
/// symbolic link at path is replaced, not followed. The directory must exist.
///
/// A file that is not there yet is written without a name (O_TMPFILE) and given its name last, so
/// even SIGKILL leaves nothing; where the filesystem cannot do that, or a file is replaced, the
/// bytes pass through a temporary name .<name>.promtact-<pid>-<number>.tmp in the same directory.
///
/// Durable: yes, when it returns success: content, name and directory were fsynced.
/// Errors: those of the failing call, with its name and the path. No temporary file is left, and
/// the old file is untouched unless the error is that of the final directory fsync; then the new
/// file is complete in place but a power cut may still bring back the old one.
Result<void> write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view text);

/// Writes all bytes to fd, however many write(2) calls that takes.
/// Errors: those of write; short_write when the kernel accepts nothing. name is for the message.
Result<void> write_all(int fd, std::span<const std::byte> bytes, std::string_view name);

/// Makes names created, renamed or removed in the directory durable.
Result<void> sync_directory(const std::filesystem::path& directory);

} // namespace promtact
