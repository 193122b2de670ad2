// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "commands/wal_directory.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/atomic_file.hpp>
#include <promtact/base/directory_owner.hpp>
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

/// The lock; none where nothing is to be changed and there is no LOCK.
Result<UniqueFd> take_lock(const fs::path& directory, int flags, int operation) {
    const fs::path path = directory / wal::lock_name;
    const UniqueFd inside{sys().open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
    if (!inside) return Error::from_errno(errno, "open directory " + directory.string());
    const std::string name(wal::lock_name);
    const int all = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const bool makes = (flags & O_ACCMODE) == O_RDWR;
    const int opened = makes ? open_or_make(inside.get(), name.c_str(), {.flags = all})
                             : sys().openat(inside.get(), name.c_str(), all, 0);
    const int failure = opened >= 0 ? 0 : makes ? -opened : errno;
    UniqueFd fd{opened};
    if (failure == ENOENT && !makes) return UniqueFd{};
    const bool link = failure == ELOOP;
    if (failure != 0 && !link) return Error::from_errno(failure, "open " + path.string());
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

/// The owner of `above` gets `made`.
Result<void> give_directory(const fs::path& made, const fs::path& above) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const UniqueFd inner{sys().open(made.c_str(), flags, 0)};
    const UniqueFd outer{sys().open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
    if (!inner || !outer) return Error::from_errno(errno, "open " + made.string());
    return give_to_directory_owner({.made = inner.get(), .directory = outer.get()});
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
    PROMTACT_TRY_ASSIGN(opened.lock, take_lock(directory, O_RDWR, LOCK_EX));
    PROMTACT_TRY_ASSIGN(opened.storage, FileStorage::open(directory, {}));
    return opened;
}

Result<WalContent> wal_content(const fs::path& directory) {
    PROMTACT_TRY(check_directory(directory));
    PROMTACT_TRY_ASSIGN(const std::vector<std::string> names, list_directory(directory));
    WalContent content = WalContent::nothing;
    for (const std::string& name : names) {
        if (name == wal::super_name || wal::parse_segment_name(name) != 0) return WalContent::log;
        // A filesystem of its own has lost+found from the start.
        if (!is_log_file(name) && name != "lost+found") content = WalContent::other;
    }
    return content;
}

Error no_wal(const fs::path& directory, WalContent content) {
    PROMTACT_ASSERT(content != WalContent::log);
    if (content == WalContent::nothing) {
        return Error{
            Errc::not_found, 0,
            "there is no log in " + directory.string() + "; `promtact wal create` makes one"};
    }
    return Error{
        Errc::refused, 0,
        directory.string() + " is not a log: nothing in it has the name of a log's file"};
}

Result<bool> make_wal_directory(const fs::path& directory) {
    const fs::path named = directory.has_filename() ? directory : directory.parent_path();
    const fs::path above = named.has_parent_path() ? named.parent_path() : fs::path(".");
    if (sys().mkdir(named.c_str(), 0750) != 0) {
        if (errno == EEXIST) return false;
        return Error::from_errno(errno, "make directory " + named.string());
    }
    PROMTACT_TRY(give_directory(named, above));
    PROMTACT_TRY(sync_directory(above));
    return true;
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
    PROMTACT_TRY_ASSIGN(const bool made, make_wal_directory(making.part_));
    if (made && fs::exists(status)) {
        PROMTACT_TRY(give_directory(making.part_, making.target_));
    }
    PROMTACT_TRY_ASSIGN(const WalDirectory old, open_wal_to_change(making.part_));
    PROMTACT_TRY_ASSIGN(std::vector<std::string> left, list_directory(making.part_));
    std::erase(left, wal::lock_name);
    for (const std::string& name : left) {
        if (!is_log_file(name)) {
            return Error{
                Errc::refused, 0, (making.part_ / name).string() + " is in the way and not ours"};
        }
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
