// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/base/mount_table.hpp>

namespace promtact {
namespace {

TEST(MountTable, DecodesEscapesAndSkipsOptionalFields) {
    const auto mounts =
        parse_mounts("26 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n"
                     "31 26 0:30 /x /mnt/with\\040space\\134back ro - tmpfs none rw\n");

    ASSERT_TRUE(mounts);
    ASSERT_EQ(mounts->size(), 2U);
    EXPECT_EQ((*mounts)[0].device, (DeviceNumber{.major = 254, .minor = 0}));
    EXPECT_EQ((*mounts)[0].source, "/dev/vda");
    EXPECT_EQ((*mounts)[0].options, "rw,relatime,rw,discard");
    EXPECT_EQ((*mounts)[1].mount_point, "/mnt/with space\\back");
    EXPECT_EQ((*mounts)[1].filesystem, "tmpfs");
}

TEST(MountTable, NamesTheDamagedLine) {
    for (const char* text :
         {"26 1 254:0 / / rw\n", "x 1 254:0 / / rw - ext4 /dev/vda rw\n",
          "26 1 2540 / / rw - ext4 /dev/vda rw\n", "26 1 a:0 / / rw - ext4 /dev/vda rw\n"}) {
        const auto mounts = parse_mounts(std::string("1 1 0:1 / /a rw - tmpfs t rw\n") + text);
        ASSERT_FALSE(mounts) << text;
        EXPECT_EQ(mounts.error().context, "line 2 of mountinfo");
    }
}

TEST(MountTable, SeesTheMountsOfThisProcess) {
    const auto mounts = read_mounts();

    ASSERT_TRUE(mounts);
    bool root = false;
    for (const Mount& mount : *mounts)
        root = root || mount.mount_point == "/";
    EXPECT_TRUE(root);
}

} // namespace
} // namespace promtact
