// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/directory_owner.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {
namespace {

constexpr int races_max = 8; // names made and removed by someone else between two of our calls

/// EINVAL: the owner has no number in this user namespace. The others: no privilege, no owners.
bool may_not(int sys_errno) noexcept {
    return sys_errno == EPERM || sys_errno == EACCES || sys_errno == EINVAL ||
           sys_errno == ENOSYS || sys_errno == EOPNOTSUPP;
}

int open_again(int directory, const char* name, int flags, mode_t mode) {
    int fd = -1;
    do {
        fd = sys().openat(directory, name, flags, mode);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

} // namespace

Result<void> give_to_directory_owner(MadeIn files) {
    PROMTACT_ASSERT(files.made >= 0);
    struct stat made {};
    struct stat directory {};
    if (::fstat(files.made, &made) != 0 || ::fstat(files.directory, &directory) != 0)
        return Error::from_errno(errno, "look whose directory it is");
    if (made.st_uid == directory.st_uid && made.st_gid == directory.st_gid) return {};
    if (sys().fchown(files.made, directory.st_uid, directory.st_gid) == 0 || may_not(errno))
        return {};
    return Error::from_errno(errno, "give a file to the directory's owner");
}

int open_or_make(int directory, const char* name, const OpenOrMake& how) {
    PROMTACT_ASSERT((how.flags & (O_CREAT | O_EXCL)) == 0);
    for (int race = 0; race < races_max; ++race) {
        // Only an exclusive creation tells that the file is ours to give away.
        UniqueFd made{open_again(directory, name, how.flags | O_CREAT | O_EXCL, how.mode)};
        if (made) {
            const Result<void> given =
                give_to_directory_owner({.made = made.get(), .directory = directory});
            return given ? made.release() : -given.error().sys_errno;
        }
        if (errno != EEXIST) return -errno;
        const int fd = open_again(directory, name, how.flags, 0);
        if (fd >= 0) return fd;
        if (errno != ENOENT) return -errno;
    }
    return -EAGAIN;
}

} // namespace promtact
