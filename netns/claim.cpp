// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include <promtact/base/kill_point.hpp>

#include "claim_internal.hpp"

namespace promtact::netns {
namespace {

constexpr std::string_view claim_header = "promtact-claim 1";
constexpr std::size_t file_bytes_max = 1024;
constexpr std::size_t marker_length = 32;

/// Takes "key value\n" off the front of text; nothing when the key is another.
Result<std::string> take(std::string_view& text, std::string_view key) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos || line.substr(0, key.size()) != key ||
        line.size() < key.size() + 2 || line[key.size()] != ' ')
        return Error{Errc::format, 0, "claim file lacks \"" + std::string{key} + "\""};
    text.remove_prefix(end + 1);
    return std::string{line.substr(key.size() + 1)};
}

Result<std::uint64_t> take_number(std::string_view& text, std::string_view key) {
    PROMTACT_TRY_ASSIGN(const std::string digits, take(text, key));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size())
        return Error{Errc::format, 0, "claim file has a bad \"" + std::string{key} + "\""};
    return value;
}

} // namespace

std::string claim_text(const Claim& claim) {
    return std::string{claim_header} + "\nname " + claim.name + "\nmarker " + claim.marker +
           "\nboot " + claim.boot_id + "\ndevice " + std::to_string(claim.id.device) + "\ninode " +
           std::to_string(claim.id.inode) + "\nmade_directory " +
           (claim.made_directory ? "1" : "0") + "\n";
}

Result<Claim> parse_claim(std::string_view text) {
    if (text.substr(0, claim_header.size() + 1) != std::string{claim_header} + "\n")
        return Error{Errc::format, 0, "not a claim file of this version"};
    text.remove_prefix(claim_header.size() + 1);
    Claim claim;
    PROMTACT_TRY_ASSIGN(claim.name, take(text, "name"));
    PROMTACT_TRY_ASSIGN(const NamespaceName name, NamespaceName::parse(claim.name));
    PROMTACT_ASSERT(name.view() == claim.name);
    PROMTACT_TRY_ASSIGN(claim.marker, take(text, "marker"));
    if (claim.marker.size() != marker_length)
        return Error{Errc::format, 0, "claim file has a bad \"marker\""};
    PROMTACT_TRY_ASSIGN(claim.boot_id, take(text, "boot"));
    PROMTACT_TRY_ASSIGN(claim.id.device, take_number(text, "device"));
    PROMTACT_TRY_ASSIGN(claim.id.inode, take_number(text, "inode"));
    PROMTACT_TRY_ASSIGN(const std::uint64_t made, take_number(text, "made_directory"));
    claim.made_directory = made != 0;
    if (!text.empty()) return Error{Errc::format, 0, "claim file has trailing text"};
    return claim;
}

std::string marker_text(const Claim& claim) {
    return std::string{claim_header} + " " + claim.marker + "\n";
}

Result<std::string> boot_id() {
    constexpr const char* path = "/proc/sys/kernel/random/boot_id";
    const UniqueFd fd{::open(path, O_RDONLY | O_CLOEXEC)};
    if (!fd) return Error::from_errno(errno, std::string{"open "} + path);
    PROMTACT_TRY_ASSIGN(std::string text, read_small_file(fd.get(), path));
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

Result<std::string> read_small_file(int fd, const std::filesystem::path& shown) {
    std::string text(file_bytes_max, '\0');
    const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
    if (got < 0) return Error::from_errno(errno, "read " + shown.string());
    text.resize(static_cast<std::size_t>(got));
    return text;
}

Result<AtName> look_at(const std::filesystem::path& path, const Claim& claim) {
    // O_NONBLOCK: a foreign FIFO must not hold us up.
    const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (!fd && errno == ENOENT) return AtName::nothing;
    if (!fd && (errno == ELOOP || errno == ENXIO)) return AtName::foreign;
    if (!fd) return Error::from_errno(errno, "open " + path.string());
    struct stat status {};
    struct statfs filesystem {};
    if (::fstat(fd.get(), &status) != 0 || ::fstatfs(fd.get(), &filesystem) != 0)
        return Error::from_errno(errno, "stat " + path.string());
    if (filesystem.f_type == NSFS_MAGIC) {
        const NamespaceId found{status.st_dev, status.st_ino};
        return found == claim.id ? AtName::our_namespace : AtName::foreign;
    }
    if (!S_ISREG(status.st_mode)) return AtName::foreign;
    PROMTACT_TRY_ASSIGN(const std::string text, read_small_file(fd.get(), path));
    return text == marker_text(claim) ? AtName::our_marker : AtName::foreign;
}

Result<void> remove_name(const std::filesystem::path& path, const Claim& claim) {
    PROMTACT_TRY_ASSIGN(AtName found, look_at(path, claim));
    if (found == AtName::our_namespace) {
        if (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0)
            return Error::from_errno(errno, "unmount " + path.string());
        kill_point();
        PROMTACT_TRY_ASSIGN(found, look_at(path, claim));
    }
    if (found == AtName::nothing) return {};
    if (found != AtName::our_marker) {
        return Error{
            Errc::refused, 0, path.string() + " is not what was claimed; it is left alone"};
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return Error::from_errno(errno, "unlink " + path.string());
    kill_point();
    return {};
}

Result<bool> make_directories(const std::filesystem::path& directory) {
    std::error_code error;
    const bool made = std::filesystem::create_directories(directory, error);
    if (error) return Error::from_errno(error.value(), "make directory " + directory.string());
    return made;
}

void remove_empty_directories(const NameDirectories& directories, bool made_names) noexcept {
    // rmdir(2) refuses a directory that others use; that is the wanted outcome, not an error.
    static_cast<void>(::rmdir(directories.claims.c_str()));
    static_cast<void>(::rmdir(directories.claims.parent_path().c_str()));
    if (made_names) static_cast<void>(::rmdir(directories.names.c_str()));
}

} // namespace promtact::netns
