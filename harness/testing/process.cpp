// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "testing/process.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <promtact/base/unique_fd.hpp>

#include "test_paths.hpp"

namespace promtact::harness::testing {

namespace {

constexpr int exit_not_started = 126;
constexpr uid_t nobody = 65534;

[[noreturn]] void fail_child(const char* what) {
    std::perror(what);
    ::_exit(exit_not_started);
}

void expect_zero(int result, const char* what) {
    if (result != 0) fail_child(what);
}

/// A memory filesystem that only this process sees, filled or read-only.
void cover(const std::string& directory, bool full) {
    expect_zero(
        ::mount("promtact-test", directory.c_str(), "tmpfs", 0, "size=64k,nr_inodes=64"), "mount");
    if (full) {
        const UniqueFd file(::open((directory + "/filler").c_str(), O_WRONLY | O_CREAT, 0600));
        std::array<char, 4096> block{};
        while (::write(file.get(), block.data(), block.size()) > 0) {
        }
        return;
    }
    expect_zero(
        ::mount(nullptr, directory.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), "remount");
}

void cover_all(const Launch& launch) {
    if (launch.full_mounts.empty() && launch.read_only_mounts.empty()) return;
    expect_zero(::unshare(CLONE_NEWNS), "unshare(CLONE_NEWNS)");
    expect_zero(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "mount private");
    for (const std::string& directory : launch.full_mounts)
        cover(directory, true);
    for (const std::string& directory : launch.read_only_mounts)
        cover(directory, false);
}

/// What a container runtime's default profile does to io_uring.
void refuse_io_uring(int sys_errno) {
    const auto answer = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(sys_errno);
    std::array<sock_filter, 4> program{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, answer),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    expect_zero(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
    expect_zero(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), "seccomp");
}

void become_nobody() {
    expect_zero(::setgroups(0, nullptr), "setgroups");
    expect_zero(::setresgid(nobody, nobody, nobody), "setresgid");
    expect_zero(::setresuid(nobody, nobody, nobody), "setresuid");
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (std::string& word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

std::vector<std::string> environment_of(const Launch& launch) {
    std::vector<std::string> out{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"})
        if (const char* value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
    out.insert(out.end(), launch.environment.begin(), launch.environment.end());
    return out;
}

[[noreturn]] void become_program(const Launch& launch, int program, int out, int err) {
    std::vector<std::string> words = launch.argv;
    std::vector<std::string> environment = environment_of(launch);
    expect_zero(::chdir(launch.directory.c_str()), "chdir");
    cover_all(launch);
    if (::dup2(err, STDERR_FILENO) < 0) fail_child("dup2");
    const UniqueFd in(::open(launch.standard_input.c_str(), O_RDONLY | O_CLOEXEC));
    if (::dup2(in.get(), STDIN_FILENO) < 0) fail_child("dup2");
    if (launch.standard_output == Stdout::full_device) out = ::open("/dev/full", O_WRONLY);
    if (::dup2(out, STDOUT_FILENO) < 0) fail_child("dup2");
    if (launch.standard_output == Stdout::closed) ::close(STDOUT_FILENO);
    if (launch.as_nobody) become_nobody();
    if (launch.io_uring_errno) refuse_io_uring(*launch.io_uring_errno);
    // By descriptor: the build tree need not be readable for nobody.
    ::syscall(
        SYS_execveat, program, "", pointers(words).data(), pointers(environment).data(),
        AT_EMPTY_PATH);
    fail_child("execveat");
}

struct Pipe {
    UniqueFd read{};
    UniqueFd write{};
};

Result<Pipe> make_pipe() {
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) return Error::from_errno(errno, "pipe2");
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Reads both pipes to their ends. False: the limit passed first.
bool collect(const Pipe& out, const Pipe& err, Finish& finish, std::chrono::seconds limit) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + limit;
    std::array<pollfd, 2> open{
        pollfd{out.read.get(), POLLIN, 0}, pollfd{err.read.get(), POLLIN, 0}};
    const std::array<std::string*, 2> texts{&finish.out, &finish.err};
    while (open[0].fd >= 0 || open[1].fd >= 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        if (left.count() <= 0) return false;
        if (::poll(open.data(), open.size(), static_cast<int>(left.count())) < 0) continue;
        for (std::size_t i = 0; i < open.size(); ++i) {
            if (open[i].fd < 0 || open[i].revents == 0) continue;
            std::array<char, 4096> chunk{};
            const ssize_t got = ::read(open[i].fd, chunk.data(), chunk.size());
            if (got > 0) {
                texts[i]->append(chunk.data(), static_cast<std::size_t>(got));
            } else
                open[i].fd = -1;
        }
    }
    return true;
}

std::chrono::microseconds duration_of(const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

} // namespace

Result<Finish> run(const Launch& launch) {
    const UniqueFd program(::open(launch.program.c_str(), O_PATH | O_CLOEXEC));
    if (!program) return Error::from_errno(errno, "open " + launch.program);
    PROMTACT_TRY_ASSIGN(Pipe out, make_pipe());
    PROMTACT_TRY_ASSIGN(Pipe err, make_pipe());
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child < 0) return Error::from_errno(errno, "fork");
    if (child == 0) become_program(launch, program.get(), out.write.get(), err.write.get());
    out.write.reset();
    err.write.reset();
    Finish finish;
    const bool in_time = collect(out, err, finish, launch.limit);
    if (!in_time) ::kill(child, SIGKILL);
    int status = 0;
    rusage usage{};
    while (::wait4(child, &status, 0, &usage) < 0)
        if (errno != EINTR) return Error::from_errno(errno, "wait4");
    finish.cpu = duration_of(usage.ru_utime) + duration_of(usage.ru_stime);
    if (!in_time) return Error{Errc::timeout, 0, "run " + launch.argv.at(0)};
    finish.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return finish;
}

std::string built(const std::string& name) {
    return promtact::test_build_path(fmt::format("bin/{}", name));
}

} // namespace promtact::harness::testing
