// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/wal_directory.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/wal/format.hpp>

namespace promtact::harness {
namespace {

namespace fs = std::filesystem;

Result<void> check_directory(const fs::path& directory) {
    std::error_code error;
    const fs::file_status status = fs::status(directory, error);
    if (error && error != std::errc::no_such_file_or_directory &&
        error != std::errc::not_a_directory)
        return Error::from_errno(error.value(), directory.string());
    if (fs::is_directory(status)) return {};
    return Error{
        Errc::invalid_argument, 0,
        directory.string() + (fs::exists(status) ? " is not a directory" : " is not there")};
}

Result<UniqueFd> take_lock(const fs::path& directory, int flags, int operation) {
    const fs::path path = directory / wal::lock_name;
    UniqueFd fd{sys().open(path.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0640)};
    if (!fd && errno == ENOENT && (flags & O_CREAT) == 0) return UniqueFd{};
    const bool link = !fd && errno == ELOOP;
    if (!fd && !link) return Error::from_errno(errno, "open " + path.string());
    struct stat status {};
    if (link || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return Error{Errc::refused, 0, path.string() + " is not a regular file"};
    if (sys().flock(fd.get(), operation | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK) return Error::from_errno(errno, "lock " + path.string());
    return Error{
        Errc::busy, EWOULDBLOCK,
        "the log in " + directory.string() + " is open in another process; stop it first"};
}

/// Whether files here can be opened past the page cache, found without making one.
bool reads_directly(const fs::path& directory, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (wal::parse_segment_name(name) == 0 && name != wal::super_name) continue;
        const UniqueFd fd{sys().open(
            (directory / name).c_str(), O_RDONLY | O_DIRECT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
            0)};
        if (!fd && errno == EINVAL) return false;
    }
    return true;
}

bool is_log_file(const std::string& name) {
    return name == wal::lock_name || name == wal::super_name ||
           wal::parse_segment_name(name) != 0 || wal::parse_segment_name(name, true) != 0;
}

} // namespace

Result<WalDirectory> open_wal_to_look(const fs::path& directory) {
    PROMTACT_TRY(check_directory(directory));
    WalDirectory opened;
    PROMTACT_TRY_ASSIGN(opened.lock, take_lock(directory, O_RDONLY, LOCK_SH));
    PROMTACT_TRY_ASSIGN(const std::vector<std::string> names, list_directory(directory));
    using Direct = FileStorageOptions::Direct;
    PROMTACT_TRY_ASSIGN(
        opened.storage,
        FileStorage::open(
            directory, {.direct = reads_directly(directory, names) ? Direct::required : Direct::off,
                        .read_only = true}));
    return opened;
}

Result<WalDirectory> open_wal_to_change(const fs::path& directory) {
    PROMTACT_TRY(check_directory(directory));
    WalDirectory opened;
    PROMTACT_TRY_ASSIGN(opened.lock, take_lock(directory, O_RDWR | O_CREAT, LOCK_EX));
    PROMTACT_TRY_ASSIGN(opened.storage, FileStorage::open(directory, {}));
    return opened;
}

Result<WalMaking> WalMaking::start(const fs::path& target) {
    WalMaking making;
    making.target_ = target.has_filename() ? target : target.parent_path();
    making.part_ = making.target_.string() + ".part";
    std::error_code error;
    const fs::file_status status = fs::symlink_status(making.target_, error);
    if (fs::exists(status) && !(fs::is_directory(status) && fs::is_empty(making.target_, error))) {
        return Error{
            Errc::exists, 0,
            making.target_.string() + " is there already and not an empty directory"};
    }
    kill_point();
    if (sys().mkdir(making.part_.c_str(), 0750) != 0 && errno != EEXIST)
        return Error::from_errno(errno, "make directory " + making.part_.string());
    PROMTACT_TRY_ASSIGN(const WalDirectory old, open_wal_to_change(making.part_));
    PROMTACT_TRY_ASSIGN(std::vector<std::string> left, list_directory(making.part_));
    std::erase(left, wal::lock_name);
    for (const std::string& name : left) {
        if (!is_log_file(name))
            return Error{
                Errc::refused, 0, (making.part_ / name).string() + " is in the way and not ours"};
    }
    for (const std::string& name : left) {
        if (!fs::remove(making.part_ / name, error) && error)
            return Error::from_errno(error.value(), "remove " + (making.part_ / name).string());
    }
    making.directory_ = {};
    making.directory_.lock = UniqueFd{::fcntl(old.lock.get(), F_DUPFD_CLOEXEC, 0)};
    PROMTACT_TRY_ASSIGN(making.directory_.storage, FileStorage::open(making.part_, {}));
    return making;
}

Result<void> WalMaking::publish() {
    kill_point();
    if (sys().renameat(AT_FDCWD, part_.c_str(), AT_FDCWD, target_.c_str()) != 0)
        return Error::from_errno(errno, "rename " + part_.string() + " to " + target_.string());
    kill_point();
    const fs::path above = target_.parent_path();
    return sync_directory(above.empty() ? fs::path(".") : above);
}

void WalMaking::abandon() noexcept {
    std::error_code ignored;
    fs::remove_all(part_, ignored);
}

} // namespace promtact::harness
