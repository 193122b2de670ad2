// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/base/sys.hpp>
#include <promtact/wal/loop_log.hpp>

#include "temporary_directory.hpp"
#include "testing/small_config.hpp"

namespace promtact::wal {
namespace {

using test_support::TemporaryDirectory;
using ::testing::HasSubstr;
using testing::small_config;

std::vector<std::byte> payload(Lsn lsn) {
    return std::vector<std::byte>(20 + lsn % 300, static_cast<std::byte>(lsn));
}

class WalLoop : public ::testing::Test {
  protected:
    void SetUp() override {
        auto log = LoopLog::open(where.path() / "log", small_config());
        if (!log && (log.error().code == Errc::unsupported || log.error().code == Errc::denied))
            GTEST_SKIP() << log.error().context;
        ASSERT_TRUE(log) << describe(log.error());
        opened = std::move(*log);
    }

    /// One round of an event loop: sleeps in poll(2) only, as long as the log allows.
    void round() {
        opened->turn();
        std::array<AppendDone, 16> done{};
        while (const std::size_t count = opened->take_done(done)) {
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_EQ(done[i].first, acknowledged + 1) << "every LSN once, in order";
                EXPECT_EQ(done[i].outcome, AppendDone::Outcome::durable);
                acknowledged = done[i].last;
            }
        }
        if (opened->core().idle() || opened->core().state() == LogCore::State::closed) return;
        pollfd event{.fd = opened->event_fd(), .events = POLLIN, .revents = 0};
        const int wait_ms = 10'000;
        ASSERT_EQ(::poll(&event, 1, wait_ms), 1) << "the log was not idle, yet nothing came";
    }
    void append_until(Lsn through, Lsn outstanding_max) {
        while (acknowledged < through) {
            while (opened->core().last() < through &&
                   opened->core().last() - acknowledged < outstanding_max) {
                const auto lsn = opened->append(payload(opened->core().last() + 1));
                if (!lsn) {
                    ASSERT_EQ(lsn.error().code, Errc::busy) << describe(lsn.error());
                    break;
                }
            }
            ASSERT_NO_FATAL_FAILURE(round());
        }
    }
    void close() {
        opened->close();
        while (opened->core().state() == LogCore::State::closing)
            ASSERT_NO_FATAL_FAILURE(round());
        ASSERT_EQ(opened->core().state(), LogCore::State::closed);
    }

    TemporaryDirectory where;
    std::unique_ptr<LoopLog> opened{};
    Lsn acknowledged = 0;
};

TEST_F(WalLoop, AcknowledgesInOrderAndWhatItAcknowledgedIsThere) {
    append_until(900, 48);
    EXPECT_GT(opened->core().stats().rotations, 0U);
    EXPECT_LT(opened->core().stats().syncs, 450U) << "appends of one turn share a sync";
    close();
    opened.reset();

    auto log = Log::open(where.path() / "log", small_config());
    ASSERT_TRUE(log) << describe(log.error());
    Lsn next = 1;
    const auto read = (*log)->read(1, 900, [&](const RecordView& record) {
        EXPECT_EQ(record.lsn, next);
        const auto wanted = payload(next++);
        EXPECT_TRUE(
            std::equal(record.payload.begin(), record.payload.end(), wanted.begin(), wanted.end()));
    });
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(next, 901U);
}

int blocking_calls = 0;

TEST_F(WalLoop, NeverSyncsOrWritesByACallThatBlocks) {
    SysCalls table = sys();
    table.fdatasync = [](int fd) { return ++blocking_calls, ::fdatasync(fd); };
    table.fsync = [](int fd) { return ++blocking_calls, ::fsync(fd); };
    table.pwrite = [](int fd, const void* data, std::size_t bytes, off_t at) {
        return ++blocking_calls, ::pwrite(fd, data, bytes, at);
    };
    const ScopedSysCalls replaced(table);
    blocking_calls = 0;
    append_until(600, 32);
    EXPECT_GT(opened->core().stats().rotations, 0U);
    EXPECT_EQ(blocking_calls, 0);
    ASSERT_EQ(sys().fdatasync(-1), -1); // the watch sees such calls
    EXPECT_EQ(blocking_calls, 1);
}

TEST_F(WalLoop, AsksToBeTurnedForItsWatermarkAndThenRests) {
    append_until(3, 3);
    ASSERT_TRUE(opened->timeout()) << "a durability hint is due after a while of idleness";
    pollfd event{.fd = opened->event_fd(), .events = POLLIN, .revents = 0};
    while (opened->timeout() || !opened->core().idle()) {
        const auto wait = opened->timeout();
        const int wait_ms = wait ? static_cast<int>(wait->count() / 1'000'000 + 1) : 10'000;
        ASSERT_GE(::poll(&event, 1, wait_ms), 0);
        opened->turn();
    }
    EXPECT_EQ(opened->core().stats().watermarks, 1U);
}

TEST_F(WalLoop, SharesTheDirectoryWithNoOtherLog) {
    LogConfig config = small_config();
    config.lock_wait = std::chrono::milliseconds{10};
    const auto second = Log::open(where.path() / "log", config);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::busy);
}

TEST_F(WalLoop, RefusesAnEngineThatBlocks) {
    LogConfig config = small_config();
    config.only = Engine::inline_sync;
    const auto log = LoopLog::open(where.path() / "other", config);
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::invalid_argument);
    EXPECT_THAT(log.error().context, HasSubstr("inline_sync"));
}

TEST_F(WalLoop, ADroppedLogIsLikeACrash) {
    append_until(40, 8);
    for (int i = 0; i < 5; ++i)
        ASSERT_TRUE(opened->append(payload(opened->core().last() + 1)));
    opened->turn();
    opened.reset();
    auto log = LoopLog::open(where.path() / "log", small_config());
    ASSERT_TRUE(log) << describe(log.error());
    EXPECT_GE((*log)->core().durable(), 40U);
    EXPECT_LE((*log)->core().durable(), 45U);
}

} // namespace
} // namespace promtact::wal
