// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The log on real filesystems that are small, fill up, and die under it.
#include <filesystem>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/wal/log.hpp>

#include "small_filesystem.hpp"
#include "temporary_directory.hpp"

namespace promtact::wal::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> payload_of(Lsn lsn) {
    std::vector<std::byte> payload(100 + lsn % 3000);
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::byte>(lsn * 31 + i);
    return payload;
}

class WalFilesystem : public ::testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        fs::create_directory(mount_point());
        auto made = test_support::SmallFilesystem::make(where.path(), mount_point(), GetParam());
        if (!made && (made.error().code == Errc::unsupported || made.error().code == Errc::denied))
            GTEST_SKIP() << made.error().context;
        ASSERT_TRUE(made) << describe(made.error());
        filesystem.emplace(std::move(*made));
    }
    void TearDown() override { log.reset(); }

    [[nodiscard]] fs::path mount_point() const { return where.path() / "mounted"; }
    void open(std::uint64_t segment_bytes = std::uint64_t{1} << 20) {
        log.reset();
        LogConfig config;
        config.log.open = LogOptions::Open::either;
        config.log.segment_bytes = segment_bytes;
        auto opened = Log::open(mount_point() / "log", config);
        ASSERT_TRUE(opened) << describe(opened.error());
        log = std::move(*opened);
    }
    /// Appends until `records` are durable or one is refused.
    Result<void> append(std::uint64_t records) {
        for (std::uint64_t i = 0; i < records; ++i) {
            const auto lsn = log->append_durable(payload_of(log->last() + 1));
            if (!lsn) return lsn.error();
            acknowledged = *lsn;
        }
        return {};
    }
    void expect_everything_acknowledged() const {
        ASSERT_GE(log->last(), acknowledged);
        Lsn next = log->first_live();
        const auto read = log->read(next, log->last(), [&](const RecordView& record) {
            EXPECT_EQ(record.lsn, next++);
            EXPECT_TRUE(std::ranges::equal(record.payload, payload_of(record.lsn)));
        });
        EXPECT_TRUE(read) << describe(read.error());
        EXPECT_EQ(next, log->last() + 1);
    }

    test_support::TemporaryDirectory where;
    std::optional<test_support::SmallFilesystem> filesystem;
    std::unique_ptr<Log> log;
    Lsn acknowledged = 0;
};

TEST_P(WalFilesystem, KeepsWhatItAcknowledged) {
    open();
    ASSERT_TRUE(append(1500));
    ASSERT_TRUE(log->close());
    open();
    expect_everything_acknowledged();
}

TEST_P(WalFilesystem, AFullDiskIsNoPoisonAndReleasingHelps) {
    ASSERT_TRUE(filesystem->leave(std::uint64_t{10} << 20));
    open();
    const auto refused = append(40'000);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::no_space) << describe(refused.error());
    EXPECT_FALSE(log->poison());
    const Lsn before = acknowledged;
    ASSERT_GT(log->stats().rotations, 2U);

    ASSERT_TRUE(log->release_prefix(before));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    Result<void> again = append(1);
    for (; !again && std::chrono::steady_clock::now() < deadline; again = append(1))
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    EXPECT_TRUE(again) << describe(again.error());
    EXPECT_GT(acknowledged, before);
    open();
    expect_everything_acknowledged();
}

TEST_P(WalFilesystem, ADeadFilesystemPoisonsAndLosesNothing) {
    open();
    ASSERT_TRUE(append(300));
    const auto down = filesystem->shut_down();
    if (!down) GTEST_SKIP() << "needs FS_IOC_SHUTDOWN on " << GetParam();

    const auto refused = append(1);
    ASSERT_FALSE(refused);
    ASSERT_TRUE(log->poison());
    EXPECT_EQ(log->poison()->sys_errno, EIO) << describe(*log->poison());
    EXPECT_EQ(append(1).error().code, Errc::poisoned);
    log.reset();
    ASSERT_TRUE(filesystem->unmount());
    ASSERT_TRUE(filesystem->mount());
    open();
    expect_everything_acknowledged();
}

TEST_P(WalFilesystem, OneFlushPerGroupAndFewBytesMoreThanItsBlocks) {
    if (GetParam() == std::string("btrfs"))
        GTEST_SKIP() << "needs a filesystem whose fdatasync writes no log tree";
    open(std::uint64_t{64} << 20);
    // The first record takes a spare, which is then made again.
    ASSERT_TRUE(append(1));
    while (log->stats().spares_made < LogOptions{}.spares + 1)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    ::sync();

    const LogStats stats = log->stats();
    const test_support::SmallFilesystem::DeviceCounts device = filesystem->counts();
    ASSERT_TRUE(append(500));
    const LogStats after = log->stats();
    const test_support::SmallFilesystem::DeviceCounts device_after = filesystem->counts();

    const std::uint64_t groups = after.syncs - stats.syncs;
    EXPECT_EQ(groups, 500U); // one writer: each record is a group
    // The filesystem may commit its journal meanwhile, for reasons of its own.
    EXPECT_GE(device_after.flushes - device.flushes, groups);
    EXPECT_LE(device_after.flushes - device.flushes, groups + 10);
    EXPECT_LE(
        device_after.bytes_written - device.bytes_written,
        (after.bytes_written - stats.bytes_written) * 11 / 10);
}

INSTANTIATE_TEST_SUITE_P(
    Types, WalFilesystem, ::testing::Values("ext4", "xfs", "btrfs"),
    [](const auto& type) { return std::string(type.param); });

} // namespace
} // namespace promtact::wal::testing
