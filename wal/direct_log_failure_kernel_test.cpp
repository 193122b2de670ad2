// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The direct log against other processes, failing calls and kills.
#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include <sys/stat.h>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/uring/testing/fake_ring.hpp>

#include "direct_log_fixture_internal.hpp"

#include <fail_nth_call.hpp>

namespace promtact::wal {
namespace {

using std::chrono::milliseconds;
using test_support::FailNthCall;

TEST_F(DirectLogTest, SecondOpenerIsToldBusyAndChangesNothing) {
    auto first = DirectLog::create(path, {});
    ASSERT_TRUE(first);
    ASSERT_TRUE(first->append(make(1)));
    ASSERT_TRUE(first->sync());
    const std::vector<char> before = image();

    const auto same_process = DirectLog::open(path, {.lock_wait = milliseconds{20}});
    const pid_t child = ::fork();
    if (child == 0) {
        const auto other = DirectLog::open(path, {.lock_wait = milliseconds{20}});
        ::_exit(!other && other.error().code == Errc::busy ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    ASSERT_FALSE(same_process);
    EXPECT_EQ(same_process.error().code, Errc::busy);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(image(), before);
    ASSERT_TRUE(first->close());
    EXPECT_TRUE(
        DirectLog::open(path, {.lock_wait = milliseconds{0}})); // free at once after close()
}

TEST_F(DirectLogTest, LockOfAKilledWriterIsFreeWithinTheWait) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
        auto log = DirectLog::create(path, {});
        if (!log || !log->append(make(1)) || !log->sync()) ::_exit(1);
        static_cast<void>(::write(writer.get(), "x", 1));
        for (std::uint64_t n = 2;; ++n) // killed with writes in flight
            if (!log->append(make(n)) || !log->sync()) ::_exit(1);
    }
    writer.reset();
    char ready = 0;
    ASSERT_EQ(::read(reader.get(), &ready, 1), 1);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto log = DirectLog::open(path, {});

    ASSERT_TRUE(log) << describe(log.error());
    EXPECT_GE(log->recovery().records, 1U); // what was acknowledged is there
    expect_records(log->recovery().records);
}

TEST_F(DirectLogTest, CreateRefusesAnExistingLogAndOpenAMissingOne) {
    write(1);
    EXPECT_EQ(DirectLog::create(path, {}).error().code, Errc::exists);
    expect_records(1);
    EXPECT_EQ(DirectLog::open(directory / "other", {}).error().code, Errc::not_found);
    EXPECT_EQ(DirectLog::create("/nonexistent/log", {}).error().code, Errc::not_found);
    EXPECT_EQ(
        read_direct_log(directory / "other", {}, [](const Record&) {}).error().code,
        Errc::not_found);
}

TEST_F(DirectLogTest, OptionsOutOfRangeAreRefusedAndNoFileIsMade) {
    for (const DirectLogOptions& options :
         {DirectLogOptions{.batch = 0}, DirectLogOptions{.batch = 1025},
          DirectLogOptions{.preallocate_blocks = ~std::uint64_t{0}}}) {
        EXPECT_EQ(DirectLog::create(path, options).error().code, Errc::invalid_argument);
        EXPECT_FALSE(std::filesystem::exists(path));
    }
}

TEST_F(DirectLogTest, DirectoryIsSyncedAfterTheFileIsMadeAndBeforeTheFirstAppend) {
    static std::vector<std::string> trace;
    trace.clear();
    SysCalls traced = real_sys_calls;
    traced.fsync = [](int fd) {
        struct stat facts {};
        static_cast<void>(::fstat(fd, &facts));
        trace.emplace_back(S_ISDIR(facts.st_mode) ? "directory" : "file");
        return ::fsync(fd);
    };
    const ScopedSysCalls scope(traced);

    ASSERT_TRUE(DirectLog::create(path, {}));
    EXPECT_EQ(trace, (std::vector<std::string>{"file", "directory"}));
    trace.clear();
    ASSERT_TRUE(DirectLog::open(path, {}));
    EXPECT_EQ(trace, (std::vector<std::string>{"file", "directory"}));
}

TEST_F(DirectLogTest, EveryFailingCallOfCreateIsAnErrorThatLeavesNoFile) {
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1; n < 100; ++n) {
        bool fired = false;
        {
            const FailNthCall fail(n, EIO);
            const auto log =
                DirectLog::create(path, {.preallocate_blocks = 3, .lock_wait = milliseconds{0}});
            fired = fail.fired();
            // A close() that fails after the directory was synced loses nothing.
            if (fired && fail.failed_call() != "close") {
                ASSERT_FALSE(log) << fail.failed_call();
                EXPECT_EQ(log.error().sys_errno, EIO);
                EXPECT_FALSE(std::filesystem::exists(path)) << fail.failed_call();
                ++failures;
            }
        }
        std::filesystem::remove(path);
        if (!fired) break;
    }
    EXPECT_GE(failures, 5U); // flock, pwrite, fsync, open of the directory, its fsync
}

// W5: a log that cannot be read is an error, never an empty log.
TEST_F(DirectLogTest, EveryFailingCallOfOpenIsAnErrorThatLosesNothing) {
    write(3);
    resize(3 * 4096 + 100); // so that the cut of the tail is among the calls
    std::uint64_t failures = 0;
    for (std::uint64_t n = 1; n < 100; ++n) {
        {
            const FailNthCall fail(n, EIO);
            const auto log = DirectLog::open(path, {.lock_wait = milliseconds{0}});
            if (!fail.fired()) break;
            if (fail.failed_call() != "close") {
                ASSERT_FALSE(log) << fail.failed_call();
                EXPECT_EQ(log.error().code, Errc::io);
                ++failures;
            }
        }
        expect_records(3);
        resize(3 * 4096 + 100);
    }
    EXPECT_GE(failures, 5U); // flock, pread, ftruncate, fsync, open, fsync
}

TEST_F(DirectLogTest, FileThatEndsBeforeItsSizeIsAnErrorNotAShorterLog) {
    write(3);
    SysCalls shrinking = real_sys_calls;
    shrinking.pread = [](int, void*, std::size_t, off_t) -> ssize_t { return 0; };
    const ScopedSysCalls scope(shrinking);
    const auto log = DirectLog::open(path, {});
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::io);
}

// A writer whose flushes a script fails, while its writes reach the real file.
class FailingSync : public DirectLogTest {
  protected:
    DirectLogOptions failing(std::deque<uring::testing::Reply> replies, std::uint32_t batch = 1) {
        kernel.replies = std::move(replies);
        DirectLogOptions options{.batch = batch};
        options.make_writer =
            [this](UniqueFd file, const uring::BlockWriterOptions& writer_options) {
                kernel.on_consume = [fd = file.get()](const uring::Operation& operation) {
                    if (!uring::is_transfer(operation.kind)) return;
                    PROMTACT_ASSERT(
                        ::pwrite(
                            fd, operation.data.data(), operation.data.size(),
                            static_cast<off_t>(operation.offset)) ==
                        static_cast<ssize_t>(operation.data.size()));
                };
                return uring::BlockWriter::over(
                    uring::Ring::over(uring::testing::make_fake_ring(kernel), writer_options.ring),
                    std::move(file), writer_options);
            };
        return options;
    }
    uring::testing::FakeKernel kernel{};
};

TEST_F(FailingSync, FailedSyncNeverMakesEntryDurable) {
    const auto options = failing({{}, {}, {}, uring::testing::fails(EIO)});
    auto log = DirectLog::create(path, options);
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(make(1)));
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(log->append(make(2)));

    const auto synced = log->sync();

    ASSERT_FALSE(synced);
    EXPECT_EQ(synced.error().code, Errc::io);
    EXPECT_EQ(log->durable_sequence(), 1U);
    const std::size_t seen = kernel.seen.size();
    for (int i = 0; i < 3; ++i) { // no retry can make it durable, and none reaches the disk
        EXPECT_EQ(log->sync().error().code, Errc::poisoned);
        EXPECT_EQ(log->sync().error().sys_errno, EIO);
        EXPECT_EQ(log->append(make(3)).error().code, Errc::poisoned);
    }
    EXPECT_FALSE(log->close());
    EXPECT_EQ(log->durable_sequence(), 1U);
    EXPECT_EQ(kernel.seen.size(), seen);
}

TEST_F(FailingSync, AppendIOErrorDoesNotAdvanceDurableSequence) {
    const auto options = failing({{}, {}, uring::testing::fails(ENOSPC)});
    auto log = DirectLog::create(path, options);
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(make(1)));
    ASSERT_TRUE(log->append(make(2))); // syncs the first, batch is 1

    const auto third = log->append(make(3));

    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, Errc::no_space);
    EXPECT_EQ(log->durable_sequence(), 1U);
    EXPECT_EQ(log->last_sequence(), 2U);
}

TEST_F(FailingSync, SameScriptWithoutTheFailureIsDurable) {
    auto log = DirectLog::create(path, failing({}));
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(make(1)));
    ASSERT_TRUE(log->append(make(2)));
    ASSERT_TRUE(log->close());
    EXPECT_EQ(log->durable_sequence(), 2U);
    expect_records(2);
}

TEST_F(DirectLogTest, KilledAtEveryPointOfCreateAndOpenTheLogOpens) {
    for (std::uint64_t point = 1; point < 50; ++point) {
        const pid_t child = ::fork();
        if (child == 0) {
            arm_kill_point(point);
            auto log = DirectLog::create(path, {.preallocate_blocks = 2});
            if (!log) ::_exit(1);
            static_cast<void>(log->append(make(1)));
            if (!log->close()) ::_exit(1);
            auto again = DirectLog::open(path, {});
            ::_exit(again ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status) || status == 0) << status;
        if (std::filesystem::exists(path)) {
            const auto log = DirectLog::open(path, {});
            EXPECT_TRUE(log) << point << ": " << describe(log.error());
        }
        std::filesystem::remove(path);
        if (!WIFSIGNALED(status)) {
            EXPECT_GE(point, 7U);
            return;
        }
    }
    FAIL() << "the child never got past the kill points";
}

} // namespace
} // namespace promtact::wal
