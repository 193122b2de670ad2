// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The child reports in frames on a pipe: one byte of kind, four of length (host order, one
// process image on both ends), then the text.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <promtact/base/atomic_file.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/durations.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/gates/isolated.hpp>

extern "C" void __gcov_dump() __attribute__((weak));

namespace promtact::gates {
namespace {

constexpr std::uint32_t frame_bytes_max = 16U << 20;
constexpr std::size_t head_bytes = 5;
constexpr char step_frame = 'S';
constexpr char report_frame = 'R';

void send_frame(int fd, char kind, std::string_view text) {
    std::array<char, head_bytes> head{kind};
    const auto size = static_cast<std::uint32_t>(text.size());
    std::memcpy(head.data() + 1, &size, sizeof size);
    // The parent may be gone; then this process is about to be, too.
    static_cast<void>(write_all(fd, std::as_bytes(std::span(head)), "report").has_value());
    static_cast<void>(
        write_all(fd, std::as_bytes(std::span(text.data(), text.size())), "report").has_value());
}

[[noreturn]] void run_child(const IsolatedRun& run, pid_t parent, int pipe) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
        static_cast<void>(std::signal(signal, SIG_DFL));
    static_cast<void>(::setpgid(0, 0));
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    if (::getppid() != parent) ::_exit(1); // it died before the line above
    if (run.in_child) run.in_child();
    UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null) static_cast<void>(::dup2(null.get(), STDIN_FILENO));
    static_cast<void>(::dup2(STDERR_FILENO, STDOUT_FILENO));

    const GateContext context(*run.options, run.sabotaged, [pipe](std::string_view what) {
        send_frame(pipe, step_frame, what);
    });
    send_frame(pipe, report_frame, report_to_json(run.entry->body(context)));
    std::fflush(nullptr);
    if (__gcov_dump != nullptr) __gcov_dump();
    ::_exit(0);
}

// Cuts the byte stream into frames.
class FrameReader {
  public:
    /// Returns false when the stream is no stream of frames.
    bool feed(std::string_view bytes, const std::function<void(std::string_view)>& on_step) {
        buffer_ += bytes;
        while (buffer_.size() >= head_bytes) {
            std::uint32_t size = 0;
            std::memcpy(&size, buffer_.data() + 1, sizeof size);
            if (size > frame_bytes_max) return false;
            if (buffer_.size() < head_bytes + size) return true;
            const std::string text = buffer_.substr(head_bytes, size);
            if (buffer_[0] == step_frame && on_step) on_step(text);
            if (buffer_[0] == report_frame) report_ = text;
            buffer_.erase(0, head_bytes + size);
        }
        return true;
    }
    [[nodiscard]] const std::optional<std::string>& report() const { return report_; }

  private:
    std::string buffer_{};
    std::optional<std::string> report_{};
};

enum class Ending : std::uint8_t { exited, overran, stopped, nonsense };

// One read of at most the pipe's capacity. False at the end of the stream.
bool read_some(int pipe, FrameReader& frames, const IsolatedRun& run, Ending& ending) {
    std::array<char, 65536> chunk{};
    const ssize_t got = ::read(pipe, chunk.data(), chunk.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    if (frames.feed({chunk.data(), static_cast<std::size_t>(got)}, run.on_step)) return true;
    ending = Ending::nonsense;
    return false;
}

// Waits until the child has ended (or must be ended), reading frames meanwhile. A grandchild may
// hold the pipe open, so the end of the child counts, not the end of the stream.
Ending follow(const IsolatedRun& run, int pipe, int child, FrameReader& frames) {
    const MonotonicClock clock;
    const auto deadline = clock.now() + run.budget;
    Ending ending = Ending::exited;
    bool open = true;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - clock.now() + std::chrono::microseconds{999});
        if (left.count() <= 0) return Ending::overran;
        std::array<pollfd, 2> polled{pollfd{child, POLLIN, 0}, pollfd{open ? pipe : -1, POLLIN, 0}};
        const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(left.count()));
        if (run.stop && run.stop()) return Ending::stopped;
        if (ready < 0 && errno != EINTR) return Ending::nonsense;
        if (ready <= 0) continue;
        if (polled[1].revents != 0) {
            open = read_some(pipe, frames, run, ending);
            if (ending != Ending::exited) return ending;
            continue; // drain before believing that the child ended
        }
        if (polled[0].revents != 0) return Ending::exited;
    }
}

GateOutcome broken(std::string reason) {
    GateOutcome outcome;
    outcome.report.verdict = Verdict::error;
    outcome.report.reason = std::move(reason);
    return outcome;
}

GateOutcome judge(const IsolatedRun& run, Ending ending, int status, const FrameReader& frames) {
    if (ending == Ending::overran)
        return broken("exceeded its budget of " + format_duration(run.budget));
    if (ending == Ending::nonsense) return broken("sent a report that is no report");
    if (WIFSIGNALED(status)) {
        const char* name = ::sigabbrev_np(WTERMSIG(status));
        return broken(
            "ended by signal " + std::to_string(WTERMSIG(status)) + " (SIG" +
            (name == nullptr ? "?" : name) + ")");
    }
    if (!frames.report().has_value()) {
        return broken(
            "ended with status " + std::to_string(WEXITSTATUS(status)) + " before it reported");
    }
    Result<GateOutcome> outcome = outcome_from_json(*frames.report());
    if (!outcome) return broken("sent a report that is no report: " + outcome.error().context);
    return std::move(*outcome);
}

} // namespace

Result<GateOutcome> run_isolated(const IsolatedRun& run) {
    PROMTACT_ASSERT(run.entry != nullptr);
    PROMTACT_ASSERT(run.options != nullptr);
    PROMTACT_ASSERT(run.budget.count() > 0);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error::from_errno(errno, "pipe2");
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) return Error::from_errno(errno, "fork");
    if (child == 0) {
        read_end.reset();
        run_child(run, parent, write_end.get());
    }
    write_end.reset();
    static_cast<void>(::setpgid(child, child)); // whoever comes first; the other one fails
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    FrameReader frames;
    const Ending ending =
        pidfd ? follow(run, read_end.get(), pidfd.get(), frames) : Ending::nonsense;
    // The zombie still holds the group's number, so this reaches only the child's own processes.
    static_cast<void>(::kill(-child, SIGKILL));
    static_cast<void>(::kill(child, SIGKILL));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!pidfd) return Error{Errc::unsupported, ENOSYS, "pidfd_open"};
    if (ending == Ending::stopped) return Error{Errc::cancelled, 0, "stopped by a signal"};
    return judge(run, ending, status, frames);
}

} // namespace promtact::gates
