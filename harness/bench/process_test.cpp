// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/unique_fd.hpp>

#include "bench/process.hpp"

namespace promtact::harness::bench {
namespace {

TEST(BenchProcess, KeepsBothStreamsAndTheExitCode) {
    const auto output = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->out, "out\n");
    EXPECT_EQ(output->err, "err\n");
    EXPECT_EQ(output->exit_code, 3);
}

TEST(BenchProcess, WordsAreNotReadByAShell) {
    const auto output = run_process({"echo", "$HOME; `id` > /x"});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->out, "$HOME; `id` > /x\n");
}

TEST(BenchProcess, AMissingProgramIsNotFound) {
    const auto output = run_process({"promtact-no-such-program"});

    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().code, Errc::not_found);
    EXPECT_EQ(output.error().context, "run promtact-no-such-program");
}

TEST(BenchProcess, ASignalIsTheExitCodeOf128AndMore) {
    const auto output = run_process({"sh", "-c", "kill -TERM $$"});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->exit_code, 128 + 15);
}

TEST(BenchProcess, IsKilledWhenItTakesTooLong) {
    const auto start = std::chrono::steady_clock::now();
    const auto output = run_process({"sleep", "30"}, {.timeout = std::chrono::milliseconds(50)});

    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().code, Errc::timeout);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(BenchProcess, TakesWhatItStartedAlongWhenItIsKilled) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd read_end{ends[0]};
    UniqueFd write_end{ends[1]};
    const auto holder = run_process(
        {"sh", "-c", "sleep 30 & wait"},
        {.timeout = std::chrono::milliseconds(300), .keep = {write_end.get()}});
    ASSERT_FALSE(holder);
    write_end.reset();
    pollfd closed{.fd = read_end.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&closed, 1, 5'000), 1) << "somebody still holds the pipe";
}

TEST(BenchProcess, IsStoppedWhenItWritesTooMuch) {
    const auto output = run_process({"yes"}, {.output_max = 100'000});

    ASSERT_FALSE(output);
    EXPECT_EQ(output.error().code, Errc::out_of_range);
}

TEST(BenchProcess, InheritsOnlyTheDescriptorsNamed) {
    const UniqueFd kept{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const UniqueFd other{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const auto has = [](int fd) {
        return "test -e /proc/self/fd/" + std::to_string(fd) + " && echo yes || echo no";
    };

    const auto output =
        run_process({"sh", "-c", has(kept.get()) + ";" + has(other.get())}, {.keep = {kept.get()}});

    ASSERT_TRUE(output);
    EXPECT_EQ(output->out, "yes\nno\n");
    EXPECT_NE(::fcntl(kept.get(), F_GETFD) & FD_CLOEXEC, 0) << "ours is unchanged";
}

} // namespace
} // namespace promtact::harness::bench
