// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The lock is flock(2) on the directory itself: it ends with the last descriptor, so it needs no
// clean-up and no process id that another process may get later.
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/base/list_directory.hpp>
#include <promtact/gates/temp_directory.hpp>

namespace promtact::gates {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = ".promtact-tmp-";
constexpr int attempts_max = 1000;

// True when this descriptor now holds the lock of a directory that still exists.
bool lock_existing(int fd) {
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return false;
    struct stat status {};
    return ::fstat(fd, &status) == 0 && status.st_nlink > 0;
}

Result<void> remove_tree(const fs::path& path) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return Error::from_errno(error.value(), "remove " + path.string());
    return {};
}

} // namespace

Result<TempDirectory> TempDirectory::create(const fs::path& parent) {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        const fs::path path = parent / (std::string(prefix) + std::to_string(::getpid()) + "-" +
                                        std::to_string(attempt));
        if (::mkdir(path.c_str(), 0777) != 0) {
            if (errno == EEXIST) continue;
            return Error::from_errno(errno, "create a directory in " + parent.string());
        }
        kill_point();
        UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        // Between mkdir and the lock another run may take the directory for an abandoned one.
        if (fd && lock_existing(fd.get())) return TempDirectory(path, std::move(fd));
        static_cast<void>(::rmdir(path.c_str()));
    }
    return Error{Errc::busy, 0, "no free name for a temporary directory in " + parent.string()};
}

TempDirectory::~TempDirectory() {
    // Without the lock it was moved from, renamed or disowned.
    if (lock_) static_cast<void>(remove_tree(path_).has_value());
}

void TempDirectory::disown() noexcept {
    lock_.reset();
}

void TempDirectory::release() noexcept {
    lock_.reset();
}

Result<std::vector<fs::path>> reap_stale(const fs::path& parent) {
    std::vector<fs::path> removed;
    const auto names = list_directory(parent);
    if (!names) return removed;
    for (const std::string& name : *names) {
        if (!name.starts_with(prefix)) continue;
        const fs::path path = parent / name;
        UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!fd || !lock_existing(fd.get())) continue;
        PROMTACT_TRY(remove_tree(path));
        removed.push_back(path);
    }
    return removed;
}

} // namespace promtact::gates
