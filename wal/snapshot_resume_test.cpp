// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "snapshot_fixture_internal.hpp"

namespace promtact::wal {
namespace {

using namespace test_support;
using ::testing::HasSubstr;

constexpr std::size_t total = 5 * 4096 + 100;

SnapshotInfo received_info(std::uint32_t incompat = 0) {
    SnapshotInfo info = small_info(5);
    info.payload_bytes = total;
    info.image[0] = std::byte{0xaa};
    info.incompat = incompat;
    return info;
}

/// Receives the first bytes of a payload, then stops as a killed process does.
void interrupt_after(
    MapStorage& storage, const Content& payload, std::size_t bytes, std::uint32_t incompat = 0) {
    SnapshotStore store = open_store(storage);
    SnapshotWriter writer = store.resume(received_info(incompat)).value();
    ASSERT_TRUE(writer.append(std::span(payload).subspan(writer.offset(), bytes)));
}

TEST(SnapshotResume, GoesOnBehindTheLastWholeChunkAndGivesTheSameImage) {
    const Content payload = noise(total);
    for (const std::size_t bytes : {0U, 1U, 4096U, 5000U, 3U * 4096U, 5U * 4096U + 100U}) {
        MapStorage storage;
        interrupt_after(storage, payload, bytes);

        SnapshotStore store = open_store(storage);
        SnapshotWriter writer = store.resume(received_info()).value();
        EXPECT_EQ(writer.offset(), bytes / 4096 * 4096);
        ASSERT_TRUE(writer.append(std::span(payload).subspan(writer.offset())));
        const auto committed = writer.commit();

        ASSERT_TRUE(committed) << describe(committed.error());
        EXPECT_EQ(read_all(store).value(), payload);
        MapStorage straight;
        SnapshotStore reference = open_store(straight);
        ASSERT_TRUE(install(reference, received_info(), payload));
        EXPECT_EQ(*straight.files[snapshot_name(1)], *storage.files[snapshot_name(1)]);
    }
}

TEST(SnapshotResume, CountsOnlyWhatVerifiesAtEveryDamagedByte) {
    const Content payload = noise(total);
    MapStorage interrupted;
    interrupt_after(interrupted, payload, 3 * 4096);
    const Content partial = *interrupted.files["snapshot.tmp"];
    ASSERT_EQ(partial.size(), 4096U + 3U * 8192U);

    for (std::size_t at = 0; at < partial.size(); at += 193) {
        MapStorage storage;
        storage.files["snapshot.tmp"] = std::make_shared<Content>(partial);
        (*storage.files["snapshot.tmp"])[at] ^= std::byte{0x10};
        SnapshotStore store = open_store(storage);
        SnapshotWriter writer = store.resume(received_info()).value();

        EXPECT_EQ(writer.offset(), at < 4096 ? 0 : (at - 4096) / 8192 * 4096) << at;
        ASSERT_TRUE(writer.append(std::span(payload).subspan(writer.offset())));
        ASSERT_TRUE(writer.commit());
        EXPECT_EQ(read_all(store).value(), payload);
    }
}

TEST(SnapshotResume, StartsAnewForAnotherImage) {
    const Content payload = noise(total);
    for (int what = 0; what < 5; ++what) {
        MapStorage storage;
        interrupt_after(storage, payload, 3 * 4096);
        SnapshotInfo other = received_info();
        if (what == 0) other.image[0] = std::byte{0xab};
        if (what == 1) other.index += 1;
        if (what == 2) other.metadata = noise(3);
        if (what == 3) other.payload_bytes += 1;
        if (what == 4) other.chunk_bytes = 8192;

        SnapshotStore store = open_store(storage);
        const SnapshotWriter writer = store.resume(other).value();

        EXPECT_EQ(writer.offset(), 0U) << what;
        EXPECT_EQ(storage.files["snapshot.tmp"]->size(), 4096U);
    }
}

TEST(SnapshotResume, CopiesWhatVerifiedBecauseAFailedFlushMayHaveLostIt) {
    const Content payload = noise(total);
    MapStorage storage;
    interrupt_after(storage, payload, 2 * 4096);
    SnapshotStore store = open_store(storage);
    storage.journal.clear();

    const SnapshotWriter writer = store.resume(received_info()).value();

    std::vector<std::string> changes;
    for (const std::string& line : storage.journal)
        if (!line.starts_with("read")) changes.push_back(line);
    EXPECT_THAT(
        changes, ::testing::ElementsAre(
                     "open snapshot.tmp", "unlink snapshot.tmp", "sync_dir", "create snapshot.tmp",
                     "write 0+4096", "write 4096+8192", "write 12288+8192", "truncate"));
    EXPECT_EQ(storage.files["snapshot.tmp"]->size(), 4096U + 2U * 8192U);
}

TEST(SnapshotResume, AReadErrorIsReportedAndKeepsTheLeftover) {
    MapStorage storage;
    interrupt_after(storage, noise(total), 2 * 4096);
    SnapshotStore store = open_store(storage);
    storage.fault = [](const IoOp& op) -> std::optional<std::int64_t> {
        if (op.kind == IoKind::read && op.offset > 0) return -EIO;
        return std::nullopt;
    };

    EXPECT_EQ(store.resume(received_info()).error().sys_errno, EIO);

    storage.fault = {};
    EXPECT_EQ(store.resume(received_info()).value().offset(), 2U * 4096U);
}

TEST(SnapshotResume, WorksOnCompressedChunks) {
    if (!snapshot_zstd_available()) GTEST_SKIP() << "needs zstd (libzstd-dev)";
    Content payload(total, std::byte{7});
    MapStorage storage;
    interrupt_after(storage, payload, 2 * 4096, snapshot_incompat_zstd);

    SnapshotStore store = open_store(storage);
    SnapshotWriter writer = store.resume(received_info(snapshot_incompat_zstd)).value();

    EXPECT_EQ(writer.offset(), 2U * 4096U);
    ASSERT_TRUE(writer.append(std::span(payload).subspan(writer.offset())));
    ASSERT_TRUE(writer.commit());
    EXPECT_EQ(read_all(store).value(), payload);
}

TEST(SnapshotResume, ALeftoverThatNobodyListedIsNotOverwritten) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    storage.files["snapshot.tmp"] = std::make_shared<Content>(10);

    const auto writer = store.write(small_info(1));

    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, Errc::exists);
    EXPECT_EQ(storage.files["snapshot.tmp"]->size(), 10U);
}

} // namespace
} // namespace promtact::wal
