// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Directories that others may have filled: std::filesystem's iterators and entries throw on what
// cannot be looked at, for example a link that leads to itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact {

enum class FileKind : std::uint8_t {
    regular,
    directory,
    absent, // or a link that leads nowhere
    other,  // or what cannot be looked at
};
/// Links are followed.
FileKind file_kind(const std::filesystem::path& path) noexcept;

/// The names in a directory, sorted. Errors: by errno, naming the directory
Result<std::vector<std::string>> list_directory(const std::filesystem::path& directory);

} // namespace promtact
