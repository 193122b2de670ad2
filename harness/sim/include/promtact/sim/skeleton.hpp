// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A project to begin with: a protocol, its adapter, tests, a scenario.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <promtact/base/result.hpp>

namespace promtact::sim {

struct SkeletonFile {
    std::string_view name{};
    std::string_view text{}; // @PROJECT@ stands for the project's name
};
/// All of them, with what stands in the build of this program.
std::span<const SkeletonFile> skeleton_files();

/// Writes a project into a directory that is not there or empty. Returns the files written.
/// Errors: invalid_argument, for a name that is no identifier; exists, when the directory holds
/// something, before anything is written; io
Result<std::vector<std::filesystem::path>>
write_skeleton(const std::filesystem::path& directory, const std::string& project);

} // namespace promtact::sim
