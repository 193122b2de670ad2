// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a log's shell needs before there is a log: the directory, its lock, a storage on it.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/base/storage.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/uring/aligned_buffer.hpp>
#include <promtact/wal/log.hpp>

namespace promtact::wal {

/// With a uuid and entropy drawn where they are zero. Errors: by errno of getrandom(2)
Result<LogOptions> completed(LogOptions options);

/// Errors: by errno of mmap(2)
Result<uring::AlignedBuffer> make_arena(const LogOptions& options);

/// The lock of a directory that is made first when the log may be created.
/// Errors: as make_directory() and lock_directory()
Result<UniqueFd> enter_directory(
    const std::filesystem::path& directory, LogOptions::Open open,
    std::chrono::milliseconds patience);

/// Makes the directory durably when it is missing. Errors: by errno.
Result<void> make_directory(const std::filesystem::path& directory);

/// The exclusive lock on <directory>/LOCK, held while the descriptor is open.
/// Errors: busy when another process holds it for longer than `patience`; by errno.
Result<UniqueFd>
lock_directory(const std::filesystem::path& directory, std::chrono::milliseconds patience);

struct OpenedEngine {
    std::unique_ptr<Storage> storage{};
    Engine engine = Engine::buffered;
    std::vector<EngineRefusal> refusals{};
};

/// The first engine of the ladder that opens, by the thread that is going to use it.
/// Errors: the last refusal, when none does.
Result<OpenedEngine> open_engine(
    const std::filesystem::path& directory, std::optional<Engine> only, bool allow_buffered,
    std::span<std::byte> arena);

} // namespace promtact::wal
