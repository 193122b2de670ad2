// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <fcntl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/block_device.hpp>
#include <promtact/base/unique_fd.hpp>

#include "fake_system_internal.hpp"

namespace promtact {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr DeviceNumber disk_b{.major = 8, .minor = 16};

TEST(BlockDevice, ReadsEveryFactOfADisk) {
    const testing::FakeSystem system;
    system.disk("sdb", "8:16", 1 << 20);
    system.partition("sdb", "sdb1", "8:17");
    system.disk("dm-0", "253:0", 4096);
    system.stack("sdb/sdb1", "dm-0");
    system.write("sys/devices/sdb/queue/logical_block_size", "512\n");
    system.write("sys/devices/sdb/queue/physical_block_size", "4096\n");
    system.write("sys/devices/sdb/queue/rotational", "0\n");
    system.write("sys/devices/sdb/queue/fua", "1\n");
    system.write("sys/devices/sdb/queue/write_cache", "write back\n");
    system.write("sys/devices/sdb/queue/scheduler", "none [mq-deadline] kyber\n");
    system.write("sys/devices/sdb/device/model", "MODEL X  \n");

    const auto facts = read_block_device(disk_b, system.roots());

    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->name, "sdb");
    EXPECT_EQ(facts->size_bytes, 1U << 20);
    EXPECT_EQ(facts->logical_sector_bytes, 512U);
    EXPECT_EQ(facts->physical_sector_bytes, 4096U);
    EXPECT_EQ(facts->rotational, false);
    EXPECT_EQ(facts->fua, true);
    EXPECT_TRUE(facts->has_volatile_cache());
    EXPECT_EQ(facts->scheduler, "mq-deadline");
    EXPECT_EQ(facts->model, "MODEL X");
    EXPECT_THAT(facts->partitions, ElementsAre("sdb1"));
    EXPECT_THAT(facts->holders, ElementsAre("dm-0"));
}

TEST(BlockDevice, SaysUnknownWhereTheKernelSaysNothing) {
    const testing::FakeSystem system;
    system.disk("sdb", "8:16", 4096);

    const auto facts = read_block_device(disk_b, system.roots());

    ASSERT_TRUE(facts);
    EXPECT_FALSE(facts->rotational.has_value());
    EXPECT_FALSE(facts->fua.has_value());
    EXPECT_FALSE(facts->has_volatile_cache());
    EXPECT_EQ(facts->model, "");
}

TEST(BlockDevice, APartitionKnowsItsDisk) {
    const testing::FakeSystem system;
    system.disk("nvme0n1", "259:0", 1 << 20);
    system.partition("nvme0n1", "nvme0n1p2", "259:2");

    const auto facts = read_block_device({.major = 259, .minor = 2}, system.roots());

    ASSERT_TRUE(facts);
    EXPECT_TRUE(facts->is_partition());
    EXPECT_EQ(facts->disk, "nvme0n1");
}

TEST(BlockDevice, FollowsSlavesDownToTheDisks) {
    const testing::FakeSystem system;
    system.disk("sdb", "8:16", 1 << 20);
    system.partition("sdb", "sdb1", "8:17");
    system.disk("md0", "9:0", 4096);
    system.disk("dm-0", "253:0", 4096);
    system.stack("sdb/sdb1", "md0");
    system.stack("md0", "dm-0");
    const auto top = read_block_device({.major = 253, .minor = 0}, system.roots());
    ASSERT_TRUE(top);

    EXPECT_THAT(
        devices_below(*top, system.roots()), UnorderedElementsAre("dm-0", "md0", "sdb1", "sdb"));
}

TEST(BlockDevice, CountsWritesAndFlushes) {
    const testing::FakeSystem system;
    system.write("sys/devices/vda/stat", "1 2 3 4 50 6 70 8 0 9 10 11 12 13 14 150 16\n");

    const auto counters = read_block_counters("vda", system.roots());

    ASSERT_TRUE(counters);
    EXPECT_EQ(counters->writes, 50U);
    EXPECT_EQ(counters->write_bytes, 70U * 512);
    EXPECT_EQ(counters->flushes, 150U);
}

TEST(BlockDevice, AnOldKernelHasNoFlushCounter) {
    const testing::FakeSystem system;
    system.write("sys/devices/vda/stat", "1 2 3 4 50 6 70 8 0 9 10\n");
    const auto counters = read_block_counters("vda", system.roots());
    ASSERT_TRUE(counters);
    EXPECT_FALSE(counters->flushes.has_value());

    system.write("sys/devices/vda/stat", "1 2 x\n");
    EXPECT_FALSE(read_block_counters("vda", system.roots()));
}

TEST(BlockDevice, RefusesAnUnknownNumberAndADamagedSize) {
    const testing::FakeSystem system;
    EXPECT_EQ(
        read_block_device({.major = 1, .minor = 2}, system.roots()).error().code, Errc::not_found);

    system.disk("sdb", "8:16", 4096);
    for (const char* size : {"", "x", "-1", "36028797018963969", "1 2"}) {
        system.write("sys/devices/sdb/size", size);
        EXPECT_FALSE(read_block_device(disk_b, system.roots())) << size;
    }
}

TEST(BlockDevice, NamesTheFilesystemThatHasNoDevice) {
    const auto location = locate(std::filesystem::path("/proc"));

    ASSERT_FALSE(location);
    EXPECT_EQ(location.error().code, Errc::unsupported);
    EXPECT_THAT(location.error().context, ::testing::HasSubstr("filesystem proc"));
}

TEST(BlockDevice, FindsTheMountOfADescriptor) {
    const UniqueFd file{::open("/proc/self/stat", O_RDONLY | O_CLOEXEC)};

    const auto mount = mount_of(file.get());

    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->filesystem, "proc");
}

} // namespace
} // namespace promtact
