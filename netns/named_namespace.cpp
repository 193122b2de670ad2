// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/netns/named_namespace.hpp>

#include "claim_internal.hpp"

namespace promtact::netns {
namespace {

std::string draw_marker() {
    std::array<std::uint8_t, 16> bits{};
    const auto drawn = ::getrandom(bits.data(), bits.size(), 0);
    PROMTACT_ASSERT(drawn == static_cast<ssize_t>(bits.size()));
    std::string text;
    for (const std::uint8_t byte : bits) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string descriptor_path(int fd) {
    return "/proc/self/fd/" + std::to_string(fd);
}

/// A file that appears under its name complete, locked and only if the name is free: written
/// without a name first, then linked. A kill in between leaves nothing.
Result<UniqueFd> create_locked(const std::filesystem::path& path, const std::string& text) {
    const std::filesystem::path directory = path.parent_path();
    UniqueFd fd{::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
    if (!fd && errno == EOPNOTSUPP) {
        return Error{
            Errc::unsupported, errno,
            directory.string() + " is on a filesystem without O_TMPFILE; tmpfs has it"};
    }
    if (!fd) return Error::from_errno(errno, "create a file in " + directory.string());
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size()))
        return Error::from_errno(written < 0 ? errno : ENOSPC, "write " + path.string());
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
        return Error::from_errno(errno, "lock " + path.string());
    const std::string source = descriptor_path(fd.get());
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0)
        return Error::from_errno(errno, "create " + path.string());
    return fd;
}

} // namespace

Result<void> NamedNamespace::write_claim() {
    const std::filesystem::path path = directories_.claims / claim_.name;
    Result<UniqueFd> file = create_locked(path, claim_text(claim_));
    if (!file && file.error().code == Errc::exists) {
        return Error{
            Errc::exists, EEXIST,
            path.string() + ": the name is claimed by another run, which is left alone; reap "
                            "removes it once its owner is dead"};
    }
    PROMTACT_TRY_ASSIGN(claim_file_, std::move(file));
    owns_claim_ = true;
    kill_point();
    return {};
}

Result<void> NamedNamespace::take_name() {
    Result<UniqueFd> marker = create_locked(path(), marker_text(claim_));
    if (!marker && marker.error().code == Errc::exists) {
        return Error{
            Errc::exists, EEXIST, path().string() + " exists and is not ours; it is left alone"};
    }
    PROMTACT_TRY(std::move(marker));
    owns_name_ = true;
    kill_point();
    const std::string source = descriptor_path(namespace_.fd());
    if (::mount(source.c_str(), path().c_str(), "none", MS_BIND, nullptr) != 0) {
        return Error::from_errno(
            errno, "mount the namespace on " + path().string() + ": needs CAP_SYS_ADMIN");
    }
    kill_point();
    PROMTACT_TRY_ASSIGN(const AtName found, look_at(path(), claim_));
    if (found != AtName::our_namespace)
        return Error{Errc::refused, 0, path().string() + " was taken by somebody meanwhile"};
    return {};
}

Result<NamedNamespace>
NamedNamespace::claim(const NamespaceName& name, const NameDirectories& directories) {
    PROMTACT_TRY_ASSIGN(Namespace made, Namespace::create());
    PROMTACT_TRY_ASSIGN(std::string boot, boot_id());
    Claim claim{
        .name = std::string{name.view()},
        .marker = draw_marker(),
        .boot_id = std::move(boot),
        .id = made.id(),
        .made_directory = false};
    NamedNamespace named{std::move(made), directories, std::move(claim)};
    PROMTACT_TRY(make_directories(directories.claims));
    PROMTACT_TRY_ASSIGN(named.claim_.made_directory, make_directories(directories.names));
    PROMTACT_TRY(named.write_claim());
    PROMTACT_TRY(named.take_name());
    return named;
}

NamedNamespace::NamedNamespace(NamedNamespace&& other) noexcept
    : namespace_(std::move(other.namespace_)), directories_(std::move(other.directories_)),
      claim_(std::move(other.claim_)), claim_file_(std::move(other.claim_file_)),
      owns_claim_(std::exchange(other.owns_claim_, false)),
      owns_name_(std::exchange(other.owns_name_, false)) {}

NamedNamespace::~NamedNamespace() {
    // What cannot be released stays claimed, and reap finds it.
    static_cast<void>(release().has_value());
}

Result<void> NamedNamespace::release() {
    if (owns_name_) PROMTACT_TRY(remove_name(path(), claim_));
    owns_name_ = false;
    if (owns_claim_) {
        const std::filesystem::path claim_path = directories_.claims / claim_.name;
        if (::unlink(claim_path.c_str()) != 0 && errno != ENOENT)
            return Error::from_errno(errno, "unlink " + claim_path.string());
        owns_claim_ = false;
        claim_file_.reset();
        kill_point();
    }
    // A moved-from object has no directories, and owns nothing.
    if (!directories_.names.empty()) remove_empty_directories(directories_, claim_.made_directory);
    return {};
}

namespace {

/// One claim file: removed with its name when its owner is dead and everything matches.
Result<void> reap_one(
    const std::filesystem::path& claim_path, const NameDirectories& directories,
    const std::string& boot, ReapReport& report) {
    const std::string shown = claim_path.filename().string();
    const UniqueFd fd{::open(claim_path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (!fd && errno == ENOENT) return {};
    if (!fd) return Error::from_errno(errno, "open " + claim_path.string());
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        report.alive.push_back(shown);
        return {};
    }
    PROMTACT_TRY_ASSIGN(const std::string text, read_small_file(fd.get(), claim_path));
    const Result<Claim> claim = parse_claim(text);
    if (!claim || claim->name != shown) {
        report.left.push_back(shown + ": not a claim file of ours");
        return {};
    }
    // Names do not survive a reboot where /run is a tmpfs; a claim that did proves nothing.
    if (claim->boot_id == boot) {
        const Result<void> removed = remove_name(directories.names / claim->name, *claim);
        if (!removed) {
            report.left.push_back(shown + ": " + removed.error().context);
            return {};
        }
    }
    if (::unlink(claim_path.c_str()) != 0 && errno != ENOENT)
        return Error::from_errno(errno, "unlink " + claim_path.string());
    remove_empty_directories(directories, claim->made_directory);
    report.removed.push_back(shown);
    return {};
}

} // namespace

Result<ReapReport> reap_dead_owners(const NameDirectories& directories) {
    PROMTACT_TRY_ASSIGN(const std::string boot, boot_id());
    ReapReport report;
    std::error_code error;
    std::filesystem::directory_iterator entry{directories.claims, error};
    std::vector<std::filesystem::path> claims;
    for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error))
        claims.push_back(entry->path());
    if (error && error.value() != ENOENT)
        return Error::from_errno(error.value(), "list " + directories.claims.string());
    for (const std::filesystem::path& claim : claims)
        PROMTACT_TRY(reap_one(claim, directories, boot, report));
    return report;
}

} // namespace promtact::netns
