// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/fs.h>
#include <linux/magic.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/directory_owner.hpp>
#include <promtact/base/file_storage.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/uring/uring_storage.hpp>

#include "shell_directory_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t storage_depth = 64;
constexpr std::array<Engine, 4> ladder{
    Engine::inline_sync, Engine::ring_sync, Engine::pwrite, Engine::buffered};

template <class T>
Result<void> draw(T& target) {
    const auto got = ::getrandom(&target, sizeof target, 0);
    if (got != static_cast<ssize_t>(sizeof target))
        return Error::from_errno(got < 0 ? errno : EIO, "draw random bytes");
    return {};
}

Result<std::unique_ptr<Storage>>
open_ring(const std::filesystem::path& directory, bool inline_sync, std::span<std::byte> arena) {
    PROMTACT_TRY_ASSIGN(
        auto storage,
        uring::UringStorage::open(
            directory, {.depth = storage_depth, .arena = arena, .inline_sync = inline_sync}));
    return std::unique_ptr<Storage>(std::move(storage));
}

Result<std::unique_ptr<Storage>> open_files(const std::filesystem::path& directory, bool direct) {
    using Direct = FileStorageOptions::Direct;
    PROMTACT_TRY_ASSIGN(
        auto storage, FileStorage::open(
                          directory, {.direct = direct ? Direct::required : Direct::off,
                                      .depth = storage_depth}));
    return std::unique_ptr<Storage>(std::move(storage));
}

Result<std::unique_ptr<Storage>>
open_one(Engine engine, const std::filesystem::path& directory, std::span<std::byte> arena) {
    switch (engine) {
    case Engine::inline_sync:
        return open_ring(directory, true, arena);
    case Engine::ring_sync:
        return open_ring(directory, false, arena);
    case Engine::pwrite:
        return open_files(directory, true);
    case Engine::buffered:
        return open_files(directory, false);
    case Engine::given:
        return Error{Errc::invalid_argument, 0, "a given storage comes with its own open()"};
    }
    PROMTACT_UNREACHABLE();
}

/// Files made here later are overwritten in place where the filesystem would else write elsewhere
/// (btrfs): a commit then allocates nothing, and does not fail on a full disk. Checksums of their
/// own the files have. Where it is refused all works as before, only slower.
/// Source: ioctl_iflags(2), FS_NOCOW_FL
void overwrite_in_place(int directory) {
    struct statfs facts {};
    if (::fstatfs(directory, &facts) != 0 || facts.f_type != BTRFS_SUPER_MAGIC) return;
    int flags = 0;
    if (::ioctl(directory, FS_IOC_GETFLAGS, &flags) != 0) return;
    flags |= FS_NOCOW_FL;
    static_cast<void>(::ioctl(directory, FS_IOC_SETFLAGS, &flags));
}

} // namespace

std::string_view to_string(Engine engine) noexcept {
    switch (engine) {
    case Engine::inline_sync:
        return "inline_sync";
    case Engine::ring_sync:
        return "ring_sync";
    case Engine::pwrite:
        return "pwrite";
    case Engine::buffered:
        return "buffered";
    case Engine::given:
        return "given";
    }
    PROMTACT_UNREACHABLE();
}

Result<LogOptions> completed(LogOptions options) {
    const LogUuid none{};
    if (options.uuid == none) PROMTACT_TRY(draw(options.uuid));
    if (options.entropy == 0) PROMTACT_TRY(draw(options.entropy));
    return options;
}

Result<uring::AlignedBuffer> make_arena(const LogOptions& options) {
    const std::size_t blocks = (LogCore::arena_bytes(options) + block_bytes - 1) / block_bytes;
    return uring::AlignedBuffer::allocate(1, static_cast<std::uint32_t>(blocks * block_bytes));
}

Result<UniqueFd> enter_directory(
    const std::filesystem::path& directory, LogOptions::Open open,
    std::chrono::milliseconds patience) {
    if (open != LogOptions::Open::existing) {
        PROMTACT_TRY(make_directory(directory));
        const UniqueFd made{sys().open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
        if (made) overwrite_in_place(made.get());
    }
    return lock_directory(directory, patience);
}

Result<void> make_directory(const std::filesystem::path& directory) {
    if (sys().mkdir(directory.c_str(), 0750) != 0) {
        return errno == EEXIST ? Result<void>{}
                               : Error::from_errno(errno, "make directory " + directory.string());
    }
    const std::filesystem::path parent =
        directory.has_parent_path() ? directory.parent_path() : std::filesystem::path(".");
    const UniqueFd above{sys().open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
    if (!above) return Error::from_errno(errno, "open directory " + parent.string());
    if (sys().fsync(above.get()) != 0)
        return Error::from_errno(errno, "fsync directory " + parent.string());
    return {};
}

Result<UniqueFd>
lock_directory(const std::filesystem::path& directory, std::chrono::milliseconds patience) {
    const std::filesystem::path path = directory / lock_name;
    const UniqueFd inside{sys().open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)};
    if (!inside) return Error::from_errno(errno, "open directory " + directory.string());
    const std::string name(lock_name);
    const int opened =
        open_or_make(inside.get(), name.c_str(), {.flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC});
    if (opened < 0) return Error::from_errno(-opened, "open " + path.string());
    UniqueFd fd{opened};
    const auto end = std::chrono::steady_clock::now() + patience;
    while (sys().flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return Error::from_errno(errno, "lock " + path.string());
        if (std::chrono::steady_clock::now() >= end) {
            return Error{
                Errc::busy, EWOULDBLOCK,
                "the log in " + directory.string() + " is open in another process"};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return fd;
}

Result<OpenedEngine> open_engine(
    const std::filesystem::path& directory, std::optional<Engine> only, bool allow_buffered,
    std::span<std::byte> arena) {
    OpenedEngine opened;
    if (only == Engine::given) return open_one(*only, directory, arena).error();
    for (const Engine engine : ladder) {
        if (only && engine != *only) continue;
        if (!only && engine == Engine::buffered && !allow_buffered) continue;
        Result<std::unique_ptr<Storage>> storage = open_one(engine, directory, arena);
        if (storage) {
            opened.storage = std::move(*storage);
            opened.engine = engine;
            return opened;
        }
        opened.refusals.push_back({engine, std::move(storage).error()});
    }
    PROMTACT_ASSERT(!opened.refusals.empty());
    return opened.refusals.back().error;
}

} // namespace promtact::wal
