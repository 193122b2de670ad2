// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// All data-driven files below a directory, each compared and told in a line. A directory may hold
// any files: what they are about is seen in their commands.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>

#include "comparison.hpp"

namespace promtact::raft::interaction {

struct FileReport {
    std::string name{}; // relative to the directory
    Subject subject = Subject::quorum;
    std::string error{}; // the file cannot be read or is not of the form
    Comparison comparison{};
};

struct DirectoryReport {
    std::vector<FileReport> files{}; // by name

    /// Some file was compared, what differs is intended, and no file was unreadable.
    [[nodiscard]] bool passed() const noexcept;
    /// How many files were compared.
    [[nodiscard]] std::size_t compared() const noexcept;
};

/// Compares every *.txt file below the directory, or the one file that the path names.
/// Errors: as list_directory()
Result<DirectoryReport> compare_directory(const std::filesystem::path& path);

/// One line for each file, and the first differences of those that differ.
std::string to_string(const DirectoryReport& report, std::size_t differences_max = 1);

} // namespace promtact::raft::interaction
