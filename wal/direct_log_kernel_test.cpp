// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
// The direct log on a real file: reopen, tear, damage, locks and failing calls.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/kill_point.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/uring/direct_file.hpp>
#include <promtact/uring/testing/fake_ring.hpp>
#include <promtact/wal/direct_log.hpp>

#include "fail_nth_call.hpp"
#include "temporary_directory.hpp"

namespace promtact::wal {
namespace {

using namespace std::chrono_literals;
using test_support::FailNthCall;
using test_support::TemporaryDirectory;
using uring::WriteMode;

constexpr WriteMode durable_modes[] = {
    WriteMode::separate, WriteMode::linked, WriteMode::dsync, WriteMode::inline_fdatasync};

Record make(std::uint64_t n) {
    return {
        .index = n * 3,
        .term = n / 7,
        .command = ~n,
        .kind = static_cast<std::uint8_t>(n % 4),
        .old_voters = 7,
        .new_voters = n,
        .operation = static_cast<std::uint8_t>(n % 3),
        .client_id = n % 5,
        .request_id = n,
        .key = n * 1'000'003,
        .value = n * n};
}

class DirectLogTest : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto ring = uring::Ring::open({});
        if (!ring) GTEST_SKIP() << "needs io_uring: " << describe(ring.error());
        const auto file = uring::open_direct_scratch(directory.path());
        if (!file) GTEST_SKIP() << "needs O_DIRECT: " << describe(file.error());
        path = directory / "log";
    }

    // Creates the log with `count` records, closed.
    void write(std::uint64_t count, const DirectLogOptions& options = {}) {
        auto log = DirectLog::create(path, options);
        ASSERT_TRUE(log) << describe(log.error());
        for (std::uint64_t n = 1; n <= count; ++n)
            ASSERT_EQ(*log->append(make(n)), n);
        const auto closed = log->close();
        ASSERT_TRUE(closed) << describe(closed.error());
    }

    Result<std::vector<Record>> read(const DirectLogOptions& options = {}) const {
        std::vector<Record> records;
        const auto recovery = read_direct_log(
            path, options, [&records](const Record& record) { records.push_back(record); });
        if (!recovery) return recovery.error();
        PROMTACT_ASSERT(recovery->records == records.size());
        return records;
    }

    void expect_records(std::uint64_t count, const DirectLogOptions& options = {}) const {
        const auto records = read(options);
        ASSERT_TRUE(records) << describe(records.error());
        ASSERT_EQ(records->size(), count);
        for (std::uint64_t n = 1; n <= count; ++n) {
            Record expected = make(n);
            expected.sequence = n;
            ASSERT_EQ((*records)[n - 1], expected);
        }
    }

    std::vector<char> image() const {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    void patch(std::uint64_t at, std::string_view bytes) const {
        const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        PROMTACT_ASSERT(
            ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(bytes.size()));
        PROMTACT_ASSERT(::fsync(file.get()) == 0);
    }
    void resize(std::uint64_t bytes) const {
        PROMTACT_ASSERT(::truncate(path.c_str(), static_cast<off_t>(bytes)) == 0);
    }

    TemporaryDirectory directory;
    std::filesystem::path path;
};

TEST_F(DirectLogTest, WALReopenThroughIOUring) {
    for (const WriteMode mode : durable_modes) {
        for (const std::uint32_t batch : {1U, 7U}) {
            SCOPED_TRACE(std::string(to_string(mode)) + " batch " + std::to_string(batch));
            const DirectLogOptions options{.mode = mode, .batch = batch};
            write(20, options);
            expect_records(20, options);

            auto log = DirectLog::open(path, options);
            ASSERT_TRUE(log) << describe(log.error());
            EXPECT_EQ(log->recovery().records, 20U);
            EXPECT_EQ(log->recovery().tail, Tail::clean);
            EXPECT_EQ(*log->append(make(21)), 21U);
            ASSERT_TRUE(log->close());

            expect_records(21, options);
            std::filesystem::remove(path);
        }
    }
}

TEST_F(DirectLogTest, BytesOnDiskAreTheFormatAndNothingElse) {
    write(3);
    const std::vector<char> bytes = image();
    ASSERT_EQ(bytes.size(), 3U * 4096U);
    for (std::uint64_t n = 1; n <= 3; ++n) {
        Record record = make(n);
        record.sequence = n;
        std::array<std::byte, block_bytes> block{};
        encode_block(record, block);
        EXPECT_EQ(std::memcmp(bytes.data() + (n - 1) * 4096, block.data(), 4096), 0);
    }
}

TEST_F(DirectLogTest, AppendIsNotDurableBeforeSync) {
    auto log = DirectLog::create(path, {.batch = 4});
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(make(1)));
    EXPECT_EQ(log->last_sequence(), 1U);
    EXPECT_EQ(log->durable_sequence(), 0U);
    ASSERT_TRUE(log->sync());
    EXPECT_EQ(log->durable_sequence(), 1U);
    ASSERT_TRUE(log->sync()); // nothing new: harmless
    expect_records(1);
}

TEST_F(DirectLogTest, OneFlushPerSyncInTheGroupModes) {
    auto log = DirectLog::create(path, {.batch = 8});
    ASSERT_TRUE(log);
    for (std::uint64_t n = 1; n <= 8; ++n)
        ASSERT_TRUE(log->append(make(n)));
    ASSERT_TRUE(log->sync());
    EXPECT_EQ(log->stats().flushes, 1U);
    EXPECT_EQ(log->stats().writes, 8U);
}

TEST_F(DirectLogTest, PreallocatedLogDoesNotGrowAndRecovers) {
    write(3, {.preallocate_blocks = 300});
    EXPECT_EQ(std::filesystem::file_size(path), 300U * 4096U);
    expect_records(3);

    auto log = DirectLog::open(path, {});
    ASSERT_TRUE(log);
    EXPECT_EQ(log->recovery().tail, Tail::zeros);
    ASSERT_TRUE(log->append(make(4)));
    ASSERT_TRUE(log->close());

    EXPECT_EQ(std::filesystem::file_size(path), 300U * 4096U);
    expect_records(4);
}

// Two legal outcomes of a crash that the Go reference cannot open: a size that is not a multiple
// of the block, and a last block of zeros.
TEST_F(DirectLogTest, OddSizeAndZeroLastBlockAreLegalCrashOutcomes) {
    for (const std::uint64_t bytes : {8193U, 8192U + 112U, 12287U, 12288U}) {
        SCOPED_TRACE(bytes);
        write(2);
        resize(bytes); // the new part reads as zeros

        auto log = DirectLog::open(path, {});

        ASSERT_TRUE(log) << describe(log.error());
        EXPECT_EQ(log->recovery().records, 2U);
        ASSERT_TRUE(log->append(make(3)));
        ASSERT_TRUE(log->close());
        expect_records(3);
        std::filesystem::remove(path);
    }
}

TEST_F(DirectLogTest, OpenTruncatesTornTailBeforeNextAppend) {
    write(3);
    patch(2 * 4096 + 60, "torn");

    auto log = DirectLog::open(path, {});

    ASSERT_TRUE(log) << describe(log.error());
    EXPECT_EQ(log->recovery().records, 2U);
    EXPECT_EQ(log->recovery().tail, Tail::torn);
    EXPECT_EQ(log->recovery().torn_block, 2U);
    EXPECT_EQ(std::filesystem::file_size(path), 8192U);
    EXPECT_EQ(*log->append(make(3)), 3U);
    ASSERT_TRUE(log->close());
    expect_records(3);
}

TEST_F(DirectLogTest, EveryCutOfTheLastBlockRecoversOnlyVerifiedPrefix) {
    write(2);
    const std::vector<char> good = image();
    for (std::uint64_t cut = 4096; cut < 8192; cut += cut < 4096 + 112 ? 1 : 509) {
        std::ofstream(path, std::ios::binary | std::ios::trunc)
            .write(good.data(), static_cast<std::streamsize>(cut));
        const auto records = read();
        ASSERT_TRUE(records) << cut;
        EXPECT_EQ(records->size(), 1U) << cut;
    }
}

TEST_F(DirectLogTest, DamageBeforeAValidRecordIsRefusedAndTheFileUntouched) {
    write(5);
    patch(2 * 4096 + 60, "rot!");
    const std::vector<char> before = image();

    const auto log = DirectLog::open(path, {});

    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::corrupt);
    EXPECT_NE(log.error().context.find("block 2"), std::string::npos) << log.error().context;
    EXPECT_NE(log.error().context.find(path.string()), std::string::npos);
    EXPECT_EQ(image(), before);
    EXPECT_FALSE(read());
}

TEST_F(DirectLogTest, SequenceGapIsRejected) {
    write(3);
    const std::vector<char> bytes = image();
    patch(4096, {bytes.data() + 8192, 4096}); // record 3 where record 2 must be

    const auto log = DirectLog::open(path, {});

    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::corrupt);
    EXPECT_NE(log.error().context.find("sequence 3"), std::string::npos);
}

TEST_F(DirectLogTest, SecondOpenerIsToldBusyAndChangesNothing) {
    auto first = DirectLog::create(path, {});
    ASSERT_TRUE(first);
    ASSERT_TRUE(first->append(make(1)));
    ASSERT_TRUE(first->sync());
    const std::vector<char> before = image();

    const auto same_process = DirectLog::open(path, {.lock_wait = 20ms});
    const pid_t child = ::fork();
    if (child == 0) {
        const auto other = DirectLog::open(path, {.lock_wait = 20ms});
        ::_exit(!other && other.error().code == Errc::busy ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);

    ASSERT_FALSE(same_process);
    EXPECT_EQ(same_process.error().code, Errc::busy);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(image(), before);
    ASSERT_TRUE(first->close());
    EXPECT_TRUE(DirectLog::open(path, {.lock_wait = 0ms})); // free at once after close()
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
            const auto log = DirectLog::create(path, {.preallocate_blocks = 3, .lock_wait = 0ms});
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
            const auto log = DirectLog::open(path, {.lock_wait = 0ms});
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
        kernel->replies = std::move(replies);
        DirectLogOptions options{.batch = batch};
        options.make_writer =
            [this](UniqueFd file, const uring::BlockWriterOptions& writer_options) {
                kernel->on_consume = [fd = file.get()](const uring::Operation& operation) {
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
    std::shared_ptr<uring::testing::FakeKernel> kernel =
        std::make_shared<uring::testing::FakeKernel>();
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
    const std::size_t seen = kernel->seen.size();
    for (int i = 0; i < 3; ++i) { // no retry can make it durable, and none reaches the disk
        EXPECT_EQ(log->sync().error().code, Errc::poisoned);
        EXPECT_EQ(log->sync().error().sys_errno, EIO);
        EXPECT_EQ(log->append(make(3)).error().code, Errc::poisoned);
    }
    EXPECT_FALSE(log->close());
    EXPECT_EQ(log->durable_sequence(), 1U);
    EXPECT_EQ(kernel->seen.size(), seen);
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
