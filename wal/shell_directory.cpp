// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/file_storage.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/uring/uring_storage.hpp>

#include "shell_directory_internal.hpp"

namespace promtact::wal {
namespace {

constexpr std::uint32_t storage_depth = 64;
constexpr std::array<Engine, 4> ladder{
    Engine::inline_sync, Engine::ring_sync, Engine::pwrite, Engine::buffered};

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
    }
    PROMTACT_UNREACHABLE();
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
    }
    PROMTACT_UNREACHABLE();
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
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    UniqueFd fd{sys().open(path.c_str(), flags, 0640)};
    if (!fd) return Error::from_errno(errno, "open " + path.string());
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
