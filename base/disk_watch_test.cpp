// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/disk_watch.hpp>

#include "fake_system_internal.hpp"

namespace promtact {
namespace {

void counters(const testing::FakeSystem& system, const std::string& disk, int writes, int flushes) {
    system.write(
        "sys/devices/" + disk + "/stat", "0 0 0 0 " + std::to_string(writes) + " 0 " +
                                             std::to_string(writes * 8) + " 0 0 0 0 0 0 0 0 " +
                                             std::to_string(flushes) + " 0\n");
}

// dm-0 on md0 on sdb1 and sdc.
class StackedDisks : public ::testing::Test {
  protected:
    StackedDisks() {
        system_.disk("sdb", "8:16", 1 << 20);
        system_.partition("sdb", "sdb1", "8:17");
        system_.disk("sdc", "8:32", 1 << 20);
        system_.disk("md0", "9:0", 4096);
        system_.disk("dm-0", "253:0", 4096);
        system_.stack("sdb/sdb1", "md0");
        system_.stack("sdc", "md0");
        system_.stack("md0", "dm-0");
        system_.write("sys/devices/sdb/queue/write_cache", "write through\n");
        system_.write("sys/devices/sdc/queue/write_cache", "write back\n");
        counters(system_, "sdb", 1, 1);
        counters(system_, "sdc", 1, 1);
    }
    Result<DiskWatch> watch() {
        PROMTACT_TRY_ASSIGN(
            const BlockDeviceFacts top,
            read_block_device({.major = 253, .minor = 0}, system_.roots()));
        return DiskWatch::below(top, system_.roots());
    }
    testing::FakeSystem system_;
};

TEST_F(StackedDisks, SumsTheDisksAtTheBottomOnly) {
    const auto watch = this->watch();
    ASSERT_TRUE(watch);
    const auto start = watch->read();
    ASSERT_TRUE(start);

    counters(system_, "sdb", 11, 3);
    counters(system_, "sdc", 6, 9);

    const auto end = watch->read();
    ASSERT_TRUE(end);
    EXPECT_EQ(
        *end - *start, (DiskTraffic{.flushes = 10, .writes = 15, .write_bytes = 15 * 8 * 512}));
}

TEST_F(StackedDisks, ExpectsFlushesWhenOneDiskHasAVolatileCache) {
    EXPECT_TRUE(watch()->expects_flushes());

    system_.write("sys/devices/sdc/queue/write_cache", "write through\n");
    EXPECT_FALSE(watch()->expects_flushes());
}

TEST_F(StackedDisks, ADiskThatDoesNotCountIsUnsupportedByName) {
    system_.write("sys/devices/sdc/stat", "1 2 3 4 50 6 70 8 0 9 10\n");

    const auto watch = this->watch();

    ASSERT_FALSE(watch);
    EXPECT_EQ(watch.error().code, Errc::unsupported);
    EXPECT_NE(watch.error().context.find("sdc"), std::string::npos);
}

TEST(DiskTraffic, NeverGoesBackwards) {
    EXPECT_EQ((DiskTraffic{} - DiskTraffic{.flushes = 5}).flushes, 0U);
}

} // namespace
} // namespace promtact
