// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

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

// Only calls that are safe between fork and exec.
[[noreturn]] void guard(const char* path, int alive) {
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
    static_cast<void>(::unlink(path));
    ::_exit(0);
}

} // namespace

Result<GuardedPath> GuardedPath::watch(std::filesystem::path path) {
    PROMTACT_TRY_ASSIGN(auto pipe, make_pipe());
    auto& [child_end, alive] = pipe;
    PROMTACT_TRY_ASSIGN(auto standing_pipe, make_pipe());
    auto& [standing, guard_end] = standing_pipe;
    const pid_t pid = ::fork();
    if (pid < 0) return Error::from_errno(errno, "fork a guard for " + path.string());
    if (pid == 0) {
        ::close(alive.release()); // or it would wait for itself
        guard(path.c_str(), child_end.get());
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
