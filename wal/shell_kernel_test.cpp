// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/wal/log.hpp>

#include "temporary_directory.hpp"
#include "testing/small_config.hpp"

namespace promtact::wal {
namespace {

using test_support::TemporaryDirectory;
using ::testing::HasSubstr;
using testing::small_config;

std::vector<std::byte> payload(std::uint64_t number) {
    std::string text = "record " + std::to_string(number) + " ";
    text.resize(20 + number % 300, 'x');
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

class WalShell : public ::testing::TestWithParam<Engine> {
  protected:
    void SetUp() override {
        auto log = Log::open(where.path() / "log", small_config(GetParam()));
        if (!log && log.error().code == Errc::unsupported) GTEST_SKIP() << log.error().context;
        if (!log && log.error().code == Errc::denied) GTEST_SKIP() << log.error().context;
        ASSERT_TRUE(log) << describe(log.error());
        opened = std::move(*log);
    }
    void reopen() {
        opened.reset();
        auto log = Log::open(where.path() / "log", small_config(GetParam()));
        ASSERT_TRUE(log) << describe(log.error());
        opened = std::move(*log);
    }
    TemporaryDirectory where;
    std::unique_ptr<Log> opened;
};

TEST_P(WalShell, KeepsWhatItAcknowledgedAcrossSegmentsAndOpens) {
    for (std::uint64_t i = 1; i <= 600; ++i) {
        const auto lsn = opened->append_durable(payload(i));
        ASSERT_TRUE(lsn) << describe(lsn.error());
        ASSERT_EQ(*lsn, i);
    }
    EXPECT_GT(opened->stats().rotations, 0U);
    ASSERT_TRUE(opened->close());
    reopen();

    EXPECT_EQ(opened->durable(), 600U);
    Lsn next = 1;
    const auto read = opened->read(1, 600, [&](const RecordView& record) {
        EXPECT_EQ(record.lsn, next);
        const auto wanted = payload(next++);
        EXPECT_TRUE(
            std::equal(record.payload.begin(), record.payload.end(), wanted.begin(), wanted.end()));
    });
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(next, 601U);
}

TEST_P(WalShell, CallsBackInOrderAndOnceEach) {
    constexpr std::uint64_t count = 3000;
    std::vector<Lsn> seen;
    std::atomic<std::uint64_t> done{0};
    for (std::uint64_t i = 1; i <= count; ++i) {
        const auto lsn = opened->append_for(
            payload(i), {},
            [&](Lsn called, Log::Outcome outcome) {
                EXPECT_EQ(outcome, Log::Outcome::durable);
                seen.push_back(called);
                ++done;
            },
            std::chrono::seconds(60));
        ASSERT_TRUE(lsn) << describe(lsn.error());
    }
    ASSERT_TRUE(opened->close());

    EXPECT_EQ(done.load(), count);
    for (std::uint64_t i = 0; i < seen.size(); ++i)
        ASSERT_EQ(seen[i], i + 1);
    EXPECT_LT(opened->stats().syncs, count) << "appends must share syncs";
}

TEST_P(WalShell, EightThreadsCommitTogether) {
    constexpr std::uint64_t each = 150;
    std::vector<std::thread> threads;
    threads.reserve(8);
    std::atomic<std::uint64_t> failures{0};
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
            for (std::uint64_t i = 0; i < each; ++i)
                if (!opened->append_durable(payload(i))) ++failures;
        });
    }
    for (std::thread& thread : threads)
        thread.join();

    EXPECT_EQ(failures.load(), 0U);
    EXPECT_EQ(opened->durable(), 8 * each);
    EXPECT_LT(opened->stats().syncs, 8 * each);
    ASSERT_TRUE(opened->close());
    reopen();
    EXPECT_EQ(opened->durable(), 8 * each);
}

TEST_P(WalShell, AppendsFromACallback) {
    std::atomic<std::uint64_t> done{0};
    Log::Callback again = [&](Lsn lsn, Log::Outcome) {
        if (lsn < 50) {
            EXPECT_TRUE(opened->append(payload(lsn), {}, again));
        }
        ++done;
    };
    ASSERT_TRUE(opened->append(payload(0), {}, again));
    while (done.load() < 50)
        std::this_thread::yield();
    EXPECT_EQ(opened->durable(), 50U);
}

TEST_P(WalShell, IsOneOwnersAtATime) {
    LogConfig config = small_config(GetParam());
    config.lock_wait = std::chrono::milliseconds(20);
    const auto second = Log::open(where.path() / "log", config);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::busy);
    EXPECT_THAT(second.error().context, HasSubstr("open in another process"));
}

TEST_P(WalShell, OnceClosedItMayBeOpenedByAnother) {
    ASSERT_TRUE(opened->append_durable(payload(1)));
    ASSERT_TRUE(opened->close());
    const auto second = Log::open(where.path() / "log", small_config(GetParam()));
    ASSERT_TRUE(second) << describe(second.error());
    EXPECT_EQ((*second)->last(), 1U);
}

TEST_P(WalShell, LetsGoOfReleasedSegments) {
    for (std::uint64_t i = 1; i <= 1500; ++i) {
        ASSERT_TRUE(opened->append_for(
            payload(i), {}, [](Lsn, Log::Outcome) {}, std::chrono::seconds(60)));
    }
    ASSERT_TRUE(opened->append_durable(payload(1501)));

    ASSERT_TRUE(opened->release_prefix(1400));
    ASSERT_TRUE(opened->append_durable(payload(1502)));
    for (int i = 0; i < 500 && opened->stats().segments_released == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GT(opened->stats().segments_released, 0U);
    ASSERT_TRUE(opened->close());
    reopen();
    EXPECT_EQ(opened->durable(), opened->last());
    EXPECT_GT(opened->first_live(), 1U);
}

TEST_P(WalShell, ReadsNothingThatWasCutOff) {
    for (std::uint64_t i = 1; i <= 20; ++i)
        ASSERT_TRUE(opened->append_durable(payload(i)));
    const auto cut = opened->truncate_suffix(12);
    ASSERT_TRUE(cut) << describe(cut.error());
    ASSERT_TRUE(opened->append_durable(payload(99)));

    std::vector<Lsn> seen;
    ASSERT_TRUE(opened->read(
        1, opened->durable(), [&](const RecordView& record) { seen.push_back(record.lsn); }));
    EXPECT_EQ(seen.size(), 13U);
    EXPECT_EQ(seen[11], 12U);
    EXPECT_GT(seen[12], 20U);
}

INSTANTIATE_TEST_SUITE_P(
    Engines, WalShell,
    ::testing::Values(Engine::inline_sync, Engine::ring_sync, Engine::pwrite, Engine::buffered),
    [](const auto& row) { return std::string(to_string(row.param)); });

TEST(WalShellOpen, RefusesWhatIsNotThere) {
    const TemporaryDirectory where;
    LogConfig config;
    const auto log = Log::open(where.path() / "absent", config);
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().code, Errc::not_found) << describe(log.error());
}

} // namespace
} // namespace promtact::wal
