// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gmock/gmock.h>

#include "snapshot_fixture_internal.hpp"

namespace promtact::wal {
namespace {

using namespace test_support;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SnapshotStore, EmptyDirectoryHasNoSnapshotAndNothingIsCreated) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);

    EXPECT_FALSE(store.verdict().newest);
    EXPECT_EQ(store.read().error().code, Errc::not_found);
    EXPECT_THAT(storage.journal, ElementsAre("list", "sync_dir"));
    EXPECT_THAT(store.verdict().words(), HasSubstr("there is no snapshot"));
}

TEST(SnapshotStore, GivesBackPayloadAndMetadataOfEverySize) {
    for (const std::size_t bytes : {0U, 1U, 4095U, 4096U, 4097U, 8192U, 20000U}) {
        MapStorage storage({.align_memory = 4096, .align_offset = 4096});
        SnapshotInfo info = small_info(9);
        info.metadata = noise(bytes % 5000, 7);
        info.image[3] = std::byte{5};
        const Content payload = noise(bytes);
        {
            SnapshotStore store = open_store(storage);
            const auto committed = install(store, info, payload);
            ASSERT_TRUE(committed) << describe(committed.error());
            EXPECT_EQ(committed->progress.payload_bytes, bytes);
            EXPECT_FALSE(committed->prune_failed);
        }

        SnapshotStore store = open_store(storage);

        info.generation = 1;
        ASSERT_TRUE(store.verdict().newest);
        EXPECT_EQ(*store.verdict().newest, info);
        EXPECT_EQ(read_all(store).value(), payload);
    }
}

TEST(SnapshotStore, InstallSyncsContentThenRenamesThenSyncsTheDirectory) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    storage.journal.clear();

    ASSERT_TRUE(install(store, small_info(1), noise(5000)));

    EXPECT_THAT(
        storage.journal, ElementsAre(
                             "create snapshot.tmp", "write 0+4096", "write 4096+8192",
                             "write 12288+4096", "write 16384+4096", "sync_data",
                             "rename snapshot.tmp " + snapshot_name(1), "sync_dir"));
}

TEST(SnapshotStore, KeepsTwoGenerations) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    for (std::uint64_t index = 1; index <= 5; ++index)
        ASSERT_TRUE(install(store, small_info(index), noise(100, index)));

    EXPECT_THAT(storage.names(), ElementsAre(snapshot_name(4), snapshot_name(5)));
    EXPECT_EQ(read_all(store).value(), noise(100, 5));
    SnapshotReader older = store.read(4).value();
    EXPECT_EQ(older.info().index, 4U);
    EXPECT_EQ(store.read(3).error().code, Errc::not_found);
}

TEST(SnapshotStore, ReaderOfAPrunedGenerationReadsOn) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    const Content payload = noise(12000);
    ASSERT_TRUE(install(store, small_info(1), payload));
    SnapshotReader reader = store.read().value();

    for (std::uint64_t index = 2; index <= 4; ++index)
        ASSERT_TRUE(install(store, small_info(index), noise(100, index)));

    Content got;
    for (auto piece = reader.next().value(); piece; piece = reader.next().value())
        got.insert(got.end(), piece->begin(), piece->end());
    EXPECT_EQ(got, payload);
}

TEST(SnapshotStore, TakesTheOlderOneWhenTheNewerIsDamagedAndSaysWhy) {
    MapStorage storage;
    {
        SnapshotStore store = open_store(storage);
        ASSERT_TRUE(install(store, small_info(1), noise(100, 1)));
        ASSERT_TRUE(install(store, small_info(2), noise(100, 2)));
    }
    (*storage.files[snapshot_name(2)])[5000] ^= std::byte{1};

    SnapshotStore store = open_store(storage);

    EXPECT_EQ(read_all(store).value(), noise(100, 1));
    ASSERT_EQ(store.verdict().passed_over.size(), 1U);
    EXPECT_EQ(store.verdict().passed_over[0].name, snapshot_name(2));
    EXPECT_THAT(
        store.verdict().words(), HasSubstr(
                                     "not taken: " + snapshot_name(2) +
                                     ": snapshot image, byte 4128, chunk 0 sum: does not match"));
    // The number is not used again, and the damaged one is evidence that stays.
    ASSERT_TRUE(install(store, small_info(3), noise(100, 3)));
    ASSERT_TRUE(install(store, small_info(4), noise(100, 4)));
    EXPECT_THAT(storage.names(), ElementsAre(snapshot_name(2), snapshot_name(3), snapshot_name(4)));
}

TEST(SnapshotStore, RefusesToOpenWhenNoImageCanBeBelieved) {
    MapStorage storage;
    storage.files[snapshot_name(1)] = std::make_shared<Content>();
    storage.files[snapshot_name(2)] = std::make_shared<Content>(8192);

    const auto store = SnapshotStore::open(storage, {});

    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::corrupt);
    EXPECT_THAT(store.error().context, HasSubstr(snapshot_name(1) + ": snapshot image, byte 0"));
    EXPECT_THAT(store.error().context, HasSubstr("first block is all zero"));
}

TEST(SnapshotStore, AReadErrorIsNeitherDamageNorAbsence) {
    MapStorage storage;
    {
        SnapshotStore store = open_store(storage);
        ASSERT_TRUE(install(store, small_info(1), noise(100, 1)));
        ASSERT_TRUE(install(store, small_info(2), noise(100, 2)));
    }
    storage.fault = [](const IoOp& op) -> std::optional<std::int64_t> {
        if (op.kind == IoKind::read && op.offset > 0) return -EIO;
        return std::nullopt;
    };

    const auto store = SnapshotStore::open(storage, {});

    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, Errc::io);
    EXPECT_EQ(store.error().sys_errno, EIO);
}

TEST(SnapshotStore, RefusesAnImageOfAnotherClusterOrName) {
    MapStorage storage;
    SnapshotStoreOptions ours;
    ours.cluster[0] = std::byte{1};
    {
        SnapshotStore store = open_store(storage);
        ASSERT_TRUE(install(store, small_info(1), noise(100)));
    }

    EXPECT_EQ(SnapshotStore::open(storage, ours).error().code, Errc::refused);
    storage.files[snapshot_name(7)] = storage.files[snapshot_name(1)];
    SnapshotStore store = open_store(storage);
    EXPECT_EQ(store.verdict().newest->generation, 1U);
    EXPECT_THAT(store.verdict().words(), HasSubstr("renamed or copied"));
}

TEST(SnapshotStore, IndexNeverGoesBack) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(7), noise(10)));

    EXPECT_EQ(store.write(small_info(6)).error().code, Errc::refused);
    EXPECT_TRUE(install(store, small_info(7), noise(11)));
}

TEST(SnapshotStore, OneWriterAndBoundedReaders) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    ASSERT_TRUE(install(store, small_info(1), noise(10)));
    {
        const SnapshotWriter writer = store.write(small_info(2)).value();
        EXPECT_EQ(store.write(small_info(2)).error().code, Errc::busy);
        EXPECT_EQ(store.remove_leftover().error().code, Errc::busy);
        std::vector<SnapshotReader> readers;
        for (std::uint32_t i = 0; i < snapshot_readers_max; ++i)
            readers.push_back(store.read().value());
        EXPECT_EQ(store.read().error().code, Errc::busy);
    }
    EXPECT_TRUE(store.read());
    EXPECT_TRUE(store.write(small_info(2)));
}

TEST(SnapshotStore, ReadOnlyTouchesNothing) {
    MapStorage storage;
    {
        SnapshotStore store = open_store(storage);
        ASSERT_TRUE(install(store, small_info(1), noise(10)));
        const SnapshotWriter interrupted = store.write(small_info(2)).value();
    }
    storage.journal.clear();

    SnapshotStore store = open_store(storage, {.read_only = true});

    EXPECT_EQ(read_all(store).value(), noise(10));
    EXPECT_EQ(store.write(small_info(2)).error().code, Errc::refused);
    EXPECT_EQ(store.remove_leftover().error().code, Errc::refused);
    for (const std::string& line : storage.journal) {
        EXPECT_TRUE(
            line.starts_with("open snapshot-") || line.starts_with("read") || line == "list")
            << line;
    }
}

TEST(SnapshotStore, LeftoverIsReportedAndOnlyTheWriterRemovesIt) {
    MapStorage storage;
    {
        SnapshotStore store = open_store(storage);
        ASSERT_TRUE(install(store, small_info(1), noise(10)));
        SnapshotWriter interrupted = store.write(small_info(2)).value();
        ASSERT_TRUE(interrupted.append(noise(9000)));
    }

    SnapshotStore store = open_store(storage);

    EXPECT_TRUE(store.verdict().leftover);
    EXPECT_THAT(store.verdict().words(), HasSubstr("left by an interrupted install"));
    EXPECT_EQ(storage.files.count("snapshot.tmp"), 1U);
    storage.journal.clear();
    ASSERT_TRUE(store.remove_leftover());
    EXPECT_THAT(storage.journal, ElementsAre("unlink snapshot.tmp", "sync_dir"));
    EXPECT_EQ(storage.files.count("snapshot.tmp"), 0U);
}

TEST(SnapshotStore, ForeignNamesAreListedAndNeverTouched) {
    MapStorage storage;
    for (const char* name :
         {"snapshot-1.snap", "snapshot-000000000000000g.snap", "snapshot-0000000000000001.snap.bak",
          "snapshot-0000000000000000.snap", "core"})
        storage.files[name] = std::make_shared<Content>(3);

    SnapshotStore store = open_store(storage);

    EXPECT_FALSE(store.verdict().newest);
    EXPECT_EQ(store.verdict().strangers.size(), 4U);
    ASSERT_TRUE(install(store, small_info(1), noise(10)));
    EXPECT_EQ(storage.files.size(), 6U);
}

TEST(SnapshotStore, NeverFollowsWhatIsNoRegularFile) {
    for (const std::string& name : {snapshot_name(1), std::string("snapshot.tmp")}) {
        MapStorage storage;
        storage.files[name] = std::make_shared<Content>(8192);
        storage.irregular.insert(name);

        const auto store = SnapshotStore::open(storage, {});

        ASSERT_FALSE(store);
        EXPECT_EQ(store.error().code, Errc::refused);
        EXPECT_THAT(store.error().context, HasSubstr(name + ": is not a regular file"));
    }
}

TEST(SnapshotStore, NamesAreParsedStrictly) {
    for (const std::uint64_t generation : {1ULL, 0xabcULL, 0xfffffffffffffffeULL})
        EXPECT_EQ(parse_snapshot_name(snapshot_name(generation)), generation);
    EXPECT_EQ(snapshot_name(255), "snapshot-00000000000000ff.snap");
    EXPECT_FALSE(parse_snapshot_name("snapshot-00000000000000FF.snap"));
    EXPECT_FALSE(parse_snapshot_name("snapshot-ffffffffffffffff.snap")) << "no number after it";
    EXPECT_FALSE(parse_snapshot_name(""));
}

TEST(SnapshotStore, AnnouncedLengthIsHeld) {
    MapStorage storage;
    SnapshotStore store = open_store(storage);
    SnapshotInfo info = small_info(1);
    info.payload_bytes = 5000;
    SnapshotWriter writer = store.write(info).value();

    ASSERT_TRUE(writer.append(noise(4999)));
    EXPECT_EQ(writer.commit().error().code, Errc::invalid_argument);
    EXPECT_EQ(writer.append(noise(2)).error().code, Errc::invalid_argument);
    EXPECT_EQ(writer.offset(), 4999U);
    ASSERT_TRUE(writer.append(noise(1)));
    EXPECT_TRUE(writer.commit());
    EXPECT_EQ(writer.commit().error().code, Errc::poisoned);
}

TEST(SnapshotStore, RefusesAStorageWhoseAlignmentDoesNotFit) {
    MapStorage storage({.align_offset = 8192});
    EXPECT_EQ(SnapshotStore::open(storage, {}).error().code, Errc::invalid_argument);
}

TEST(SnapshotStore, ImageWithUnknownRoCompatBitIsReadButNotReplaced) {
    MapStorage storage;
    SnapshotInfo info = small_info(1);
    info.generation = 1;
    info.ro_compat = 4;
    auto image = std::make_shared<Content>(8192);
    SnapshotProgress progress{.file_bytes = 4096};
    progress.chain = encode_snapshot_header(info, std::span(*image).first(4096));
    encode_snapshot_trailer(progress, 1, std::span(*image).subspan<4096, 4096>());
    storage.files[snapshot_name(1)] = image;

    SnapshotStore store = open_store(storage);

    EXPECT_TRUE(read_all(store).value().empty());
    EXPECT_EQ(store.write(small_info(2)).error().code, Errc::unsupported);
}

} // namespace
} // namespace promtact::wal
