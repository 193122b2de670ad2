// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/unique_fd.hpp>

namespace promtact::harness::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
    UniqueFd read{};
    UniqueFd write{};
};

Result<Pipe> open_pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::from_errno(errno, "make a pipe");
    return Pipe{.read = UniqueFd{ends[0]}, .write = UniqueFd{ends[1]}};
}

// Ends the child and what it started, and reaps it, when the parent gives up on it.
class Child {
  public:
    explicit Child(pid_t pid) : pid_(pid) {}
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ <= 0) return;
        if (::kill(-pid_, SIGKILL) != 0) static_cast<void>(::kill(pid_, SIGKILL));
        static_cast<void>(wait());
    }
    int wait() {
        int status = 0;
        while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }

  private:
    pid_t pid_;
};

[[noreturn]] void become(
    const std::vector<char*>& words, const ProcessOptions& options, int out, int err, int failed) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    static_cast<void>(::setpgid(0, 0)); // so that all it starts can be ended with it
    static_cast<void>(::dup2(out, STDOUT_FILENO));
    static_cast<void>(::dup2(err, STDERR_FILENO));
    for (const int fd : options.keep)
        static_cast<void>(::fcntl(fd, F_SETFD, 0));
    ::execvp(words.front(), words.data());
    const int failure = errno;
    static_cast<void>(::write(failed, &failure, sizeof failure) == sizeof failure);
    ::_exit(127);
}

// 0 when the program runs; the errno of execvp otherwise. The pipe closes itself on success.
int exec_errno(int fd) {
    int failure = 0;
    for (;;) {
        const ssize_t got = ::read(fd, &failure, sizeof failure);
        if (got < 0 && errno == EINTR) continue;
        return got == sizeof failure ? failure : 0;
    }
}

// Appends what is there; false at the end of the stream.
bool take(int fd, std::string& into) {
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    into.append(chunk.data(), static_cast<std::size_t>(got));
    return got > 0;
}

Result<void> collect(
    int out, int err, const std::string& program, const ProcessOptions& options,
    ProcessOutput& output) {
    std::array<pollfd, 2> ends{
        pollfd{.fd = out, .events = POLLIN, .revents = 0},
        pollfd{.fd = err, .events = POLLIN, .revents = 0}};
    const auto deadline = Clock::now() + options.timeout;
    while (ends[0].fd >= 0 || ends[1].fd >= 0) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return Error{Errc::timeout, 0, "run " + program};
        const int ready = ::poll(ends.data(), ends.size(), static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) return Error::from_errno(errno, "wait for " + program);
        if (ready <= 0) continue;
        if (ends[0].revents != 0 && !take(out, output.out)) ends[0].fd = -1;
        if (ends[1].revents != 0 && !take(err, output.err)) ends[1].fd = -1;
        if (output.out.size() + output.err.size() > options.output_max)
            return Error{Errc::out_of_range, 0, program + " wrote too much"};
    }
    return {};
}

} // namespace

Result<ProcessOutput>
run_process(const std::vector<std::string>& words, const ProcessOptions& options) {
    PROMTACT_ASSERT(!words.empty());
    std::vector<std::string> copy = words;
    std::vector<char*> pointers;
    pointers.reserve(copy.size() + 1);
    for (std::string& word : copy)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    PROMTACT_TRY_ASSIGN(Pipe out, open_pipe());
    PROMTACT_TRY_ASSIGN(Pipe err, open_pipe());
    PROMTACT_TRY_ASSIGN(Pipe failed, open_pipe());
    const pid_t pid = ::fork();
    if (pid < 0) return Error::from_errno(errno, "fork for " + words.front());
    if (pid == 0) become(pointers, options, out.write.get(), err.write.get(), failed.write.get());
    Child child(pid);
    out.write.reset();
    err.write.reset();
    failed.write.reset();
    if (const int failure = exec_errno(failed.read.get()); failure != 0) {
        static_cast<void>(child.wait());
        return Error::from_errno(failure, "run " + words.front());
    }
    ProcessOutput output;
    PROMTACT_TRY(collect(out.read.get(), err.read.get(), words.front(), options, output));
    output.exit_code = child.wait();
    return output;
}

} // namespace promtact::harness::bench
