// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "snapshot_fixture_internal.hpp"

namespace promtact::wal {
namespace {

using namespace test_support;
using ::testing::HasSubstr;

/// A store with generation 1 (index 1) whose next requests can be made to fail.
class SnapshotErrors : public ::testing::Test {
  protected:
    void SetUp() override {
        SnapshotStore store = open_store(storage);
        ASSERT_TRUE(install(store, small_info(1), first));
    }
    /// Answers `result` to request number `n` (from 0) of the kind, doing nothing else.
    void fail(IoKind kind, int n, std::int64_t result, int times = 1) {
        storage.fault = [=, seen = 0](const IoOp& op) mutable -> std::optional<std::int64_t> {
            if (op.kind != kind) return std::nullopt;
            const int number = seen++;
            if (number < n || number >= n + times) return std::nullopt;
            return result;
        };
    }
    /// What a process that starts now finds.
    Content reopened() {
        storage.fault = {};
        SnapshotStore store = open_store(storage);
        return read_all(store).value();
    }

    const Content first = noise(100, 1);
    const Content second = noise(9000, 2);
    MapStorage storage{};
};

TEST_F(SnapshotErrors, EveryFailingWriteLeavesTheOldGenerationAndAUsableStore) {
    for (const int sys_errno : {EIO, ENOSPC, EDQUOT, EFBIG}) {
        for (int n = 0; n < 5; ++n) { // header, three chunks, trailer
            SnapshotStore store = open_store(storage);
            fail(IoKind::write, n, -sys_errno);

            const auto failed = install(store, small_info(2), second);

            ASSERT_FALSE(failed) << n;
            EXPECT_EQ(failed.error().sys_errno, sys_errno);
            EXPECT_THAT(failed.error().context, HasSubstr("write snapshot.tmp"));
            EXPECT_FALSE(store.poison());
            EXPECT_EQ(read_all(store).value(), first);
            EXPECT_EQ(reopened(), first);
            storage.fault = {};
            EXPECT_TRUE(install(store, small_info(1), first)) << "the store goes on";
        }
    }
}

TEST_F(SnapshotErrors, AFullDiskGetsItsSpaceBackAtOnce) {
    SnapshotStore store = open_store(storage);
    const auto before = storage.names();
    storage.room = 20000;

    const auto failed = install(store, small_info(2), second);

    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::no_space);
    EXPECT_EQ(storage.names(), before);
    EXPECT_FALSE(store.verdict().leftover);
}

TEST_F(SnapshotErrors, AWriterThatFailedIsFinished) {
    SnapshotStore store = open_store(storage);
    SnapshotWriter writer = store.write(small_info(2)).value();
    fail(IoKind::write, 0, -EIO);

    EXPECT_EQ(writer.append(second).error().code, Errc::io);
    EXPECT_EQ(writer.append(second).error().code, Errc::poisoned);
    EXPECT_EQ(writer.commit().error().code, Errc::poisoned);
    EXPECT_EQ(writer.commit().error().sys_errno, EIO);
}

TEST_F(SnapshotErrors, FirstShortWriteIsWrittenAgainTheSecondIsAnError) {
    SnapshotStore store = open_store(storage);
    fail(IoKind::write, 1, 512);
    storage.journal.clear();
    ASSERT_TRUE(install(store, small_info(2), second));
    EXPECT_EQ(std::count(storage.journal.begin(), storage.journal.end(), "write 4096+8192"), 2);

    fail(IoKind::write, 1, 512, 2);
    const auto failed = install(store, small_info(3), second);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::short_write);
    EXPECT_THAT(failed.error().context, HasSubstr("512 of 8192 bytes at 4096, twice"));
    EXPECT_EQ(reopened(), second);
}

TEST_F(SnapshotErrors, InterruptedRequestsAreRepeatedABoundedNumberOfTimes) {
    SnapshotStore store = open_store(storage);
    fail(IoKind::write, 1, -EAGAIN, 3);
    EXPECT_TRUE(install(store, small_info(2), second));
    fail(IoKind::write, 1, -EAGAIN, 4);
    EXPECT_EQ(install(store, small_info(3), second).error().code, Errc::busy);
    fail(IoKind::read, 0, -EINTR, 3);
    EXPECT_TRUE(read_all(store));
}

/// A failed step of the install proper poisons the store with the errno, and is not tried again.
class SnapshotPoison : public SnapshotErrors, public ::testing::WithParamInterface<IoKind> {};

TEST_P(SnapshotPoison, IsForGoodAndNeverRetried) {
    SnapshotStore store = open_store(storage);
    SnapshotWriter writer = store.write(small_info(2)).value();
    ASSERT_TRUE(writer.append(second));
    fail(GetParam(), 0, -EIO);
    storage.journal.clear();

    const auto failed = writer.commit();

    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::io);
    EXPECT_EQ(failed.error().sys_errno, EIO);
    ASSERT_TRUE(store.poison());
    const auto requests = storage.journal.size();
    EXPECT_EQ(writer.commit().error().code, Errc::poisoned);
    EXPECT_EQ(writer.append(second).error().code, Errc::poisoned);
    EXPECT_EQ(writer.discard().error().code, Errc::poisoned);
    EXPECT_EQ(store.write(small_info(2)).error().code, Errc::poisoned);
    EXPECT_EQ(store.write(small_info(2)).error().sys_errno, EIO);
    EXPECT_EQ(store.remove_leftover().error().code, Errc::poisoned);
    EXPECT_EQ(storage.journal.size(), requests) << "nothing was asked again";
    EXPECT_EQ(read_all(store).value(), first) << "reading goes on";
    const auto step = std::string(to_string(GetParam()));
    EXPECT_EQ(
        std::count_if(
            storage.journal.begin(), storage.journal.end(),
            [&step](const std::string& line) { return line.starts_with(step); }),
        1);
    const Content after = reopened();
    EXPECT_TRUE(after == first || after == second);
    EXPECT_EQ(after == second, GetParam() == IoKind::sync_dir) << "old, or new when it was renamed";
}

INSTANTIATE_TEST_SUITE_P(
    Steps, SnapshotPoison, ::testing::Values(IoKind::sync_data, IoKind::rename, IoKind::sync_dir),
    [](const auto& row) { return std::string(to_string(row.param)); });

TEST_F(SnapshotErrors, ARenameWithoutSpaceChangedNothing) {
    SnapshotStore store = open_store(storage);
    fail(IoKind::rename, 0, -ENOSPC);

    EXPECT_EQ(install(store, small_info(2), second).error().code, Errc::no_space);

    EXPECT_FALSE(store.poison());
    EXPECT_EQ(reopened(), first);
}

TEST_F(SnapshotErrors, AFailedPruneIsReportedAndLosesNothing) {
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(2), second));
    fail(IoKind::unlink, 0, -EIO);

    const auto committed = install(store, small_info(3), first);

    ASSERT_TRUE(committed);
    ASSERT_TRUE(committed->prune_failed);
    EXPECT_EQ(committed->prune_failed->sys_errno, EIO);
    EXPECT_EQ(storage.files.size(), 3U);
    ASSERT_TRUE(install(store, small_info(4), first));
    EXPECT_EQ(storage.files.size(), 2U) << "the next commit catches up";
}

TEST_F(SnapshotErrors, FailingOpenChangesNothing) {
    for (const IoKind kind : {IoKind::list, IoKind::open, IoKind::read, IoKind::sync_dir}) {
        const auto names = storage.names();
        fail(kind, 0, -EIO);
        const auto store = SnapshotStore::open(storage, {});
        ASSERT_FALSE(store) << to_string(kind);
        EXPECT_EQ(store.error().sys_errno, EIO);
        EXPECT_EQ(storage.names(), names);
    }
    EXPECT_EQ(reopened(), first);
}

TEST_F(SnapshotErrors, AFileThatShrinksWhileItIsReadIsAnIoError) {
    SnapshotStore store = open_store(storage);
    SnapshotReader reader = store.read().value();
    storage.files[snapshot_name(1)]->resize(5000);

    EXPECT_EQ(reader.next().error().code, Errc::io);
    EXPECT_EQ(reader.next().error().code, Errc::io) << "the error stays";
}

TEST_F(SnapshotErrors, DamageFoundWhileStreamingIsNamed) {
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(2), second));
    SnapshotReader reader = store.read().value();
    ASSERT_TRUE(reader.next());
    (*storage.files[snapshot_name(2)])[12288 + 50] ^= std::byte{4};

    const auto piece = reader.next();

    ASSERT_FALSE(piece);
    EXPECT_EQ(piece.error().code, Errc::corrupt);
    EXPECT_THAT(piece.error().context, HasSubstr("byte 12320, chunk 1 sum"));
}

TEST_F(SnapshotErrors, AStorageInUseBySomebodyElseIsBusy) {
    SnapshotStore store = open_store(storage);
    std::byte one{};
    ASSERT_TRUE(storage.submit({.id = 99, .kind = IoKind::sync_dir, .data = {&one, 1}}));

    EXPECT_EQ(store.write(small_info(2)).error().code, Errc::busy);
}

} // namespace
} // namespace promtact::wal
