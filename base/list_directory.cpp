// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <system_error>

#include <promtact/base/list_directory.hpp>

namespace promtact {

FileKind file_kind(const std::filesystem::path& path) noexcept {
    std::error_code failure;
    switch (std::filesystem::status(path, failure).type()) {
    case std::filesystem::file_type::regular:
        return FileKind::regular;
    case std::filesystem::file_type::directory:
        return FileKind::directory;
    case std::filesystem::file_type::not_found:
        return FileKind::absent;
    default:
        return FileKind::other;
    }
}

Result<std::vector<std::string>> list_directory(const std::filesystem::path& directory) {
    std::vector<std::string> names;
    std::error_code failure;
    auto entry = std::filesystem::directory_iterator(directory, failure);
    while (!failure && entry != std::filesystem::directory_iterator()) {
        names.push_back(entry->path().filename().string());
        entry.increment(failure);
    }
    if (failure) return Error::from_errno(failure.value(), "list " + directory.string());
    std::ranges::sort(names);
    return names;
}

} // namespace promtact
