// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/kill_point.hpp>

#include "storage_support/guarded_path_internal.hpp"

namespace promtact::gates {
namespace {

// The reading end and the writing end.
Result<std::pair<UniqueFd, UniqueFd>> make_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::from_errno(errno, "make a pipe");
    return std::pair{UniqueFd{ends[0]}, UniqueFd{ends[1]}};
}

// Unlinks what lies in a directory, entries of one pass; false when there was none.
bool empty_once(int directory) {
    alignas(dirent64) std::array<char, 4096> entries{};
    bool found = false;
    static_cast<void>(::lseek(directory, 0, SEEK_SET));
    for (;;) {
        const ssize_t got = ::getdents64(directory, entries.data(), entries.size());
        if (got <= 0) return found;
        for (ssize_t at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const dirent64*>(entries.data() + at);
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..")
                found = ::unlinkat(directory, entry->d_name, 0) == 0 || found;
            at += entry->d_reclen;
        }
    }
}

// Requests of a killed process may still make a name: tried again for a second.
void remove_directory(const char* path) {
    constexpr timespec pause{0, 5'000'000};
    for (int i = 0; i < 200; ++i) {
        const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (directory < 0) return;
        while (empty_once(directory)) {
        }
        static_cast<void>(::close(directory));
        if (::rmdir(path) == 0) return;
        static_cast<void>(::nanosleep(&pause, nullptr));
    }
}

// Only calls that are safe between fork and exec.
[[noreturn]] void guard(const char* path, GuardedPath::Kind kind, int alive) {
    static_cast<void>(::setsid());
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE})
        static_cast<void>(::signal(signal, SIG_IGN));
    // Held descriptors would keep pipes of whoever reads our output open; closing the last one also
    // tells our parent that the guard stands.
    if (::dup2(alive, 0) != 0) ::_exit(1);
    static_cast<void>(::close_range(1, ~0U, 0));
    char byte = 0;
    while (::read(0, &byte, 1) < 0 && errno == EINTR) {
    }
    if (kind == GuardedPath::Kind::directory) {
        remove_directory(path);
    } else {
        static_cast<void>(::unlink(path));
    }
    ::_exit(0);
}

} // namespace

Result<GuardedPath> GuardedPath::watch(std::filesystem::path path, Kind kind) {
    PROMTACT_TRY_ASSIGN(auto pipe, make_pipe());
    auto& [child_end, alive] = pipe;
    PROMTACT_TRY_ASSIGN(auto standing_pipe, make_pipe());
    auto& [standing, guard_end] = standing_pipe;
    const pid_t pid = ::fork();
    if (pid < 0) return Error::from_errno(errno, "fork a guard for " + path.string());
    if (pid == 0) {
        ::close(alive.release()); // or it would wait for itself
        guard(path.c_str(), kind, child_end.get());
    }
    // Until the guard has left our process group, killing the group would take it along.
    guard_end.reset();
    char byte = 0;
    while (::read(standing.get(), &byte, 1) < 0 && errno == EINTR) {
    }
    kill_point();
    return GuardedPath{std::move(path), std::move(alive), pid};
}

GuardedPath::GuardedPath(GuardedPath&& other) noexcept
    : path_(std::move(other.path_)), alive_(std::move(other.alive_)),
      guard_(std::exchange(other.guard_, -1)) {}

GuardedPath::~GuardedPath() {
    if (guard_ <= 0) return;
    alive_.reset();
    while (::waitpid(guard_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace promtact::gates
