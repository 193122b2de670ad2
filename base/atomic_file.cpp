// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/bytes.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/base/unique_fd.hpp>

namespace promtact {
namespace {

constexpr mode_t file_mode = 0666; // less the umask
constexpr int attempts_max = 100;  // temporary names taken by someone else

std::filesystem::path directory_of(const std::filesystem::path& path) {
    const std::filesystem::path parent = path.parent_path();
    return parent.empty() ? std::filesystem::path(".") : parent;
}

std::filesystem::path temporary_beside(const std::filesystem::path& path) {
    static std::atomic<std::uint64_t> counter{0};
    const std::uint64_t number = counter.fetch_add(1, std::memory_order_relaxed);
    return directory_of(path) /
           ("." + path.filename().string() + ".promtact-" + std::to_string(::getpid()) + "-" +
            std::to_string(number) + ".tmp");
}

/// Removes a name when the scope ends, unless it was renamed away.
class TemporaryName {
  public:
    TemporaryName() = default;
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;
    ~TemporaryName() {
        if (!path_.empty()) static_cast<void>(sys().unlink(path_.c_str()));
    }
    void own(std::filesystem::path path) {
        PROMTACT_ASSERT(path_.empty());
        PROMTACT_ASSERT(!path.empty());
        path_ = std::move(path);
    }
    void disown() noexcept { path_.clear(); }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  private:
    std::filesystem::path path_{};
};

/// The lock a living writer holds on its file, whatever it is called.
Result<void> lock(const UniqueFd& fd, const std::string& name) {
    if (sys().flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
        return Error::from_errno(errno, "lock the new " + name);
    return {};
}

bool is_temporary_name(std::string_view name) noexcept {
    return name.starts_with('.') && name.ends_with(".tmp") &&
           name.find(".promtact-") != std::string_view::npos;
}

/// Removes one temporary name unless a writer lives; true when it was removed.
Result<bool> reap(const std::filesystem::path& path) {
    const UniqueFd fd(sys().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
    if (!fd) return false; // gone meanwhile, or not ours to read
    if (sys().flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return false;
    if (sys().unlink(path.c_str()) == 0) return true;
    if (errno == ENOENT) return false;
    return Error::from_errno(errno, "remove " + path.string());
}

/// A new file and how it can get its final name.
struct NewFile {
    UniqueFd fd{};
    TemporaryName name{}; // empty: the file has no name yet
};

Result<void> create_named(const std::filesystem::path& path, NewFile& file) {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        std::filesystem::path temporary = temporary_beside(path);
        const int fd = sys().open(
            temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, file_mode);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) return Error::from_errno(errno, "create " + temporary.string());
        file.fd = UniqueFd(fd);
        file.name.own(std::move(temporary));
        return lock(file.fd, path.string());
    }
    return Error::from_errno(EEXIST, "find a free temporary name beside " + path.string());
}

/// Tries a file without a name first; false means that this filesystem has none.
Result<bool> create_unnamed(const std::filesystem::path& path, NewFile& file) {
    const std::filesystem::path directory = directory_of(path);
    const int fd = sys().open(directory.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, file_mode);
    // open(2): EOPNOTSUPP without support in the filesystem, EISDIR from kernels before 3.11.
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) return false;
    if (fd < 0) return Error::from_errno(errno, "create a file in " + directory.string());
    file.fd = UniqueFd(fd);
    PROMTACT_TRY(lock(file.fd, path.string()));
    return true;
}

/// Gives the unnamed file a name; false when the name is taken.
Result<bool> link_to(const NewFile& file, const std::filesystem::path& name) {
    PROMTACT_ASSERT(file.fd);
    PROMTACT_ASSERT(file.name.path().empty());
    const std::string self = "/proc/self/fd/" + std::to_string(file.fd.get());
    if (sys().linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
        return true;
    if (errno == EEXIST) return false;
    return Error::from_errno(errno, "link " + name.string());
}

/// Gives the unnamed file a temporary name.
Result<void> link_temporary(const std::filesystem::path& path, NewFile& file) {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
        std::filesystem::path temporary = temporary_beside(path);
        PROMTACT_TRY_ASSIGN(const bool linked, link_to(file, temporary));
        if (!linked) continue;
        file.name.own(std::move(temporary));
        return {};
    }
    return Error::from_errno(EEXIST, "find a free temporary name beside " + path.string());
}

Result<void> fill(const NewFile& file, std::span<const std::byte> bytes, const std::string& name) {
    PROMTACT_TRY(write_all(file.fd.get(), bytes, name));
    kill_point();
    if (sys().fsync(file.fd.get()) != 0) return Error::from_errno(errno, "fsync " + name);
    kill_point();
    return {};
}

/// Moves the file, complete and durable, to its final name.
Result<void> publish(NewFile& file, const std::filesystem::path& path) {
    PROMTACT_ASSERT(file.fd);
    if (file.name.path().empty()) {
        PROMTACT_TRY_ASSIGN(const bool linked, link_to(file, path));
        if (linked) return {};
        PROMTACT_TRY(link_temporary(path, file));
        kill_point();
    }
    PROMTACT_ASSERT(!file.name.path().empty());
    if (sys().rename(file.name.path().c_str(), path.c_str()) != 0) {
        return Error::from_errno(
            errno, "rename " + file.name.path().string() + " to " + path.string());
    }
    file.name.disown();
    return {};
}

} // namespace

Result<void> write_all(int fd, std::span<const std::byte> bytes, std::string_view name) {
    PROMTACT_ASSERT(fd >= 0);
    while (!bytes.empty()) {
        const ssize_t wrote = sys().write(fd, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return Error::from_errno(errno, "write " + std::string(name));
        if (wrote == 0) {
            return Error{
                Errc::short_write, 0,
                "write " + std::string(name) + " with " + std::to_string(bytes.size()) +
                    " bytes left"};
        }
        PROMTACT_ASSERT(static_cast<std::size_t>(wrote) <= bytes.size());
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    return {};
}

Result<std::uint64_t> reap_temporaries(const std::filesystem::path& directory) {
    std::error_code failure;
    std::filesystem::directory_iterator entry(directory, failure);
    std::uint64_t removed = 0;
    while (!failure && entry != std::filesystem::directory_iterator()) {
        const std::filesystem::path path = entry->path();
        if (is_temporary_name(path.filename().string()) && entry->is_regular_file(failure)) {
            PROMTACT_TRY_ASSIGN(const bool gone, reap(path));
            removed += gone ? 1 : 0;
        }
        entry.increment(failure);
    }
    if (failure) return Error::from_errno(failure.value(), "list " + directory.string());
    return removed;
}

Result<void> sync_directory(const std::filesystem::path& directory) {
    const UniqueFd fd(sys().open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    if (!fd) return Error::from_errno(errno, "open directory " + directory.string());
    if (sys().fsync(fd.get()) != 0)
        return Error::from_errno(errno, "fsync directory " + directory.string());
    return {};
}

Result<void>
write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    if (path.filename().empty() || path.filename() == "." || path.filename() == "..") {
        return Error{
            Errc::invalid_argument, 0, "write \"" + path.string() + "\", which names no file"};
    }
    NewFile file;
    PROMTACT_TRY_ASSIGN(const bool unnamed, create_unnamed(path, file));
    if (!unnamed) PROMTACT_TRY(create_named(path, file));
    kill_point();
    PROMTACT_TRY(fill(file, bytes, path.string()));
    PROMTACT_TRY(publish(file, path));
    kill_point();
    const int fd = file.fd.release();
    if (sys().close(fd) != 0 && errno != EINTR)
        return Error::from_errno(errno, "close " + path.string());
    return sync_directory(directory_of(path));
}

Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view text) {
    return write_file_atomic(path, bytes_of(text));
}

} // namespace promtact
