// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>

#include <promtact/base/atomic_file.hpp>
#include <promtact/sim/skeleton.hpp>

namespace promtact::sim {
namespace {

constexpr std::string_view project_mark = "@PROJECT@";

/// What CMake takes as the name of a target.
bool is_name(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto other = [&letter](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
    };
    constexpr std::array<std::string_view, 4> taken{"test", "all", "install", "protocol_test"};
    return !name.empty() && name.size() <= 64 && letter(name.front()) &&
           std::all_of(name.begin(), name.end(), other) &&
           std::find(taken.begin(), taken.end(), name) == taken.end();
}

std::string filled(std::string_view text, std::string_view project) {
    std::string out(text);
    for (std::size_t at = out.find(project_mark); at != std::string::npos;
         at = out.find(project_mark, at + project.size()))
        out.replace(at, project_mark.size(), project);
    return out;
}

Error failure(const std::filesystem::path& path, const std::error_code& code) {
    return Error::from_errno(code.value(), path.string());
}

} // namespace

Result<std::vector<std::filesystem::path>>
write_skeleton(const std::filesystem::path& directory, const std::string& project) {
    if (!is_name(project)) {
        return Error{
            Errc::invalid_argument, 0,
            "\"" + project +
                "\" cannot name a project: a letter first, then letters, digits, - and _"};
    }
    std::error_code code;
    if (std::filesystem::exists(directory, code)) {
        const bool empty = std::filesystem::is_empty(directory, code);
        if (code) return failure(directory, code);
        if (!empty || !std::filesystem::is_directory(directory))
            return Error{Errc::exists, 0, directory.string() + " is not an empty directory"};
    }
    std::filesystem::create_directories(directory, code);
    if (code) return failure(directory, code);
    std::vector<std::filesystem::path> written;
    for (const SkeletonFile& file : skeleton_files()) {
        const std::filesystem::path path = directory / file.name;
        PROMTACT_TRY(write_file_atomic(path, filled(file.text, project)));
        written.push_back(path);
    }
    return written;
}

} // namespace promtact::sim
