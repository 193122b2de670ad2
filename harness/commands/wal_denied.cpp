// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/wal_denied.hpp"

#include <cerrno>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <promtact/base/list_directory.hpp>
#include <promtact/wal/format.hpp>

#include "word.hpp"

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;

struct Right {
    int bit = 0;
    std::string_view words{};
};
constexpr Right search{X_OK, "search permission (x)"};
constexpr Right read{R_OK, "read permission (r)"};
constexpr Right write{W_OK, "write permission (w)"};

/// Nothing when the user has the right, or the path is not there to have it on.
std::optional<std::string> lacking(const fs::path& path, const Right& right) {
    const bool held = ::faccessat(AT_FDCWD, path.c_str(), right.bit, AT_EACCESS) == 0;
    if (held || (errno != EACCES && errno != EPERM)) return std::nullopt;
    struct stat status {};
    std::string whose;
    if (::stat(path.c_str(), &status) == 0) {
        whose = fmt::format(
            ", which belongs to uid {} and has mode {:04o}", status.st_uid,
            status.st_mode & 07777U);
    }
    return fmt::format(
        "this user (uid {}) lacks {} on {}{}; run this as the owner of the log, or grant it",
        ::geteuid(), right.words, printable(path.string()), whose);
}

/// The directories from the root down to the last, each of which is passed through.
std::optional<std::string> lacking_above(const fs::path& directory) {
    fs::path walked;
    for (const fs::path& part : directory) {
        walked /= part;
        if (auto words = lacking(walked, search)) return words;
    }
    return std::nullopt;
}

/// What there is of a log that is to be made: the nearest directory above it.
fs::path existing(fs::path directory) {
    struct stat status {};
    while (directory.has_relative_path() && ::stat(directory.c_str(), &status) != 0 &&
           errno == ENOENT) {
        directory = directory.parent_path();
    }
    return directory;
}

/// The file that is spoken of, or else every file that the log has.
std::vector<fs::path> files_of(const WalAccess& access, const fs::path& directory) {
    if (!access.file.empty()) return {directory / access.file};
    std::vector<fs::path> files;
    const auto names = list_directory(directory);
    if (!names) return files;
    for (const std::string& name : *names) {
        if (name == wal::lock_name || name == wal::super_name || wal::parse_segment_name(name) != 0)
            files.push_back(directory / name);
    }
    return files;
}

} // namespace

std::string wal_denied_words(const WalAccess& access) {
    std::error_code ignored;
    const fs::path directory = existing(fs::absolute(access.directory, ignored));
    if (auto words = lacking_above(directory)) return *words;
    if (auto words = lacking(directory, read)) return *words;
    for (const fs::path& file : files_of(access, directory)) {
        if (auto words = lacking(file, read)) return *words;
        if (!access.changes) continue;
        if (auto words = lacking(file, write)) return *words;
    }
    if (access.changes) {
        if (auto words = lacking(directory, write)) return *words;
    }
    return "no right is missing on " + printable((directory / access.file).string()) +
           " that can be seen: an immutable file or a security policy forbids it";
}

} // namespace promtact::harness
