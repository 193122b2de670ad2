// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <gtest/gtest.h>

#include <promtact/base/crash_images.hpp>

namespace promtact::disk {
namespace {

std::vector<std::byte> filled(std::size_t bytes, int value) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

/// One file "f" of four durable atoms of zeros.
struct Fixture {
    explicit Fixture(std::uint32_t atom = 512) : pool(atom), model(pool, Image{}) {
        model.complete(model.create("f", file));
        model.complete(model.resize(file, 4ULL * atom));
        model.complete(model.sync(file), true);
        model.complete(model.sync(DiskModel::npos), true);
    }
    std::set<Digest128> images(CrashOptions options = {}) {
        std::set<Digest128> seen;
        ImageHasher hash;
        visited = crash_images(model, options, [&](const Image& i) { seen.insert(hash(i, pool)); });
        return seen;
    }

    Pool pool;
    DiskModel model;
    std::uint32_t file = 0;
    std::uint64_t visited = 0;
};

TEST(DiskModel, NothingPendingLeavesOneImage) {
    Fixture disk;

    EXPECT_EQ(disk.images().size(), 1U);
    EXPECT_EQ(disk.model.durable().find(disk.pool.name("f"))->inode, disk.file);
}

TEST(DiskModel, AWriteIsSplitIntoAtomsAndEverySubsetIsVisited) {
    for (const std::uint32_t atom : {512U, 4096U}) {
        Fixture disk(atom);
        const Ticket ticket = disk.model.write(disk.file, 0, filled(3ULL * atom, 1));

        EXPECT_EQ(disk.model.pending().size(), 3U);
        // The three atoms have equal content but different places.
        EXPECT_EQ(disk.images().size(), 8U);
        disk.model.complete(ticket);
        EXPECT_EQ(disk.images().size(), 8U) << "completion alone makes nothing durable";
        disk.model.complete(disk.model.sync(disk.file), true);
        EXPECT_EQ(disk.images().size(), 1U);
    }
}

TEST(DiskModel, ASyncCoversOnlyWhatHadCompletedWhenItWasIssued) {
    Fixture disk;
    const Ticket first = disk.model.write(disk.file, 0, filled(512, 1));
    const Ticket second = disk.model.write(disk.file, 512, filled(512, 2));
    disk.model.complete(first);
    const DiskModel::Sync sync = disk.model.sync(disk.file);
    disk.model.complete(second);

    disk.model.complete(sync, true);

    ASSERT_EQ(disk.model.pending().size(), 1U);
    EXPECT_EQ(disk.model.pending()[0].where, 1U);
}

TEST(DiskModel, AFailedSyncIsNeverMadeGoodByALaterOne) {
    Fixture disk;
    disk.model.complete(disk.model.write(disk.file, 0, filled(512, 1)));
    disk.model.complete(disk.model.sync(disk.file), false);

    disk.model.complete(disk.model.sync(disk.file), true);

    EXPECT_EQ(disk.images().size(), 2U) << "the write is there or it is not";
}

TEST(DiskModel, ReadersSeeWhatCompleted) {
    Fixture disk;
    const Ticket ticket = disk.model.write(disk.file, 100, filled(10, 7));

    EXPECT_EQ(disk.model.completed().files[disk.file].atom(0), 0U);
    EXPECT_NE(disk.model.issued().files[disk.file].atom(0), 0U);
    disk.model.complete(ticket);
    const auto bytes = disk.pool.bytes(disk.model.completed().files[disk.file].atom(0));
    EXPECT_EQ(bytes[99], std::byte{0});
    EXPECT_EQ(bytes[100], std::byte{7});
    EXPECT_EQ(bytes[110], std::byte{0});
}

TEST(DiskModel, ANameIsDurableOnlyAfterTheDirectorySync) {
    Fixture disk;
    std::uint32_t file = 0;
    disk.model.complete(disk.model.create("g", file));
    disk.model.complete(disk.model.write(file, 0, filled(512, 3)));
    disk.model.complete(disk.model.sync(file), true);
    EXPECT_EQ(disk.images().size(), 2U) << "with g and without";

    disk.model.complete(disk.model.rename("g", "h"));
    EXPECT_EQ(disk.images().size(), 3U) << "neither, g, h";

    disk.model.complete(disk.model.sync(DiskModel::npos), true);
    EXPECT_EQ(disk.images().size(), 1U);
    EXPECT_EQ(disk.model.lookup("g"), DiskModel::npos);
    EXPECT_NE(disk.model.lookup("h"), DiskModel::npos);
}

TEST(DiskModel, ASizeMayPersistWithoutTheData) {
    Fixture disk;
    disk.model.complete(disk.model.write(disk.file, 4 * 512, filled(512, 1)));
    bool zeros_seen = false;
    crash_images(disk.model, {}, [&](const Image& image) {
        const FileImage& file = image.files[disk.file];
        zeros_seen = zeros_seen || (file.size == 5 * 512 && file.atom(4) == 0);
        EXPECT_TRUE(file.size == 5 * 512 || file.atoms.size() <= 4U) << "no data beyond the size";
    });
    EXPECT_TRUE(zeros_seen);
}

TEST(DiskModel, AboveTheLimitTheNamedSubsetsAreVisited) {
    Fixture disk;
    for (int i = 0; i < 20; ++i) {
        disk.model.complete(
            disk.model.write(disk.file, 512ULL * static_cast<unsigned>(i % 4), filled(512, i + 1)));
    }
    const CrashOptions options{.random = 100};

    disk.images(options);

    EXPECT_EQ(disk.visited, 2U * 21 + 2U * 20 + 190 + 100);
}

TEST(DiskPool, RollbackForgetsWhatWasAddedAfter) {
    Pool pool(512);
    const std::size_t mark = pool.atoms();
    const AtomId first = pool.intern(filled(512, 1));
    pool.rollback(mark);

    EXPECT_EQ(pool.atoms(), mark);
    EXPECT_EQ(pool.intern(filled(512, 2)), first);
    EXPECT_EQ(pool.bytes(first)[0], std::byte{2});
}

} // namespace
} // namespace promtact::disk
