// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/netns/leak_audit.hpp>

namespace promtact::netns {
namespace {

TEST(LeakAudit, DifferenceNamesWhatWentAndWhatAppeared) {
    const Inventory before{.lines = {"a", "b", "b", "d"}};
    const Inventory after{.lines = {"a", "b", "c", "d"}};

    const InventoryDifference found = difference(before, after);

    EXPECT_EQ(found.text(), "- b\n+ c\n");
    EXPECT_TRUE(difference(after, after).empty());
}

TEST(LeakAudit, TwoInventoriesOfAQuietHostHaveTheSameBytes) {
    const auto first = take_inventory(interface_parts);
    const auto second = take_inventory(interface_parts);

    ASSERT_TRUE(first) << first.error().context;
    ASSERT_TRUE(second);
    EXPECT_EQ(first->text(), second->text());
    EXPECT_NE(first->text().find("link lo index 1"), std::string::npos) << first->text();
}

TEST(LeakAudit, EveryPartCanBeListedByAnyUser) {
    const auto everything = take_inventory(all_parts);

    ASSERT_TRUE(everything) << everything.error().context;
    EXPECT_NE(everything->text().find("mount / root"), std::string::npos);
}

} // namespace
} // namespace promtact::netns
