// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/netns/safe_name.hpp>
#include <promtact/netns/test_address.hpp>

namespace promtact::netns {
namespace {

TEST(SafeName, AcceptsThePrefixAndUpToFifteenCharacters) {
    EXPECT_TRUE(InterfaceName::parse("promtact-a"));
    EXPECT_TRUE(InterfaceName::parse("promtact-abcdef"));
    EXPECT_EQ(InterfaceName::literal("promtact-x_Y-9").view(), "promtact-x_Y-9");
}

TEST(SafeName, RefusesEveryOtherNameAndNamesTheRule) {
    struct Row {
        std::string_view name;
        std::string_view text;
        std::string_view reason;
    };
    for (const Row& row :
         {Row{"empty", "", "must start with promtact-"}, Row{"loopback", "lo", "must start"},
          Row{"management", "eth0", "must start"}, Row{"prefix only", "promtact-", "at least one"},
          Row{"case of prefix", "Promtact-a", "must start"},
          Row{"sixteen characters", "promtact-abcdefg", "at most 15"},
          Row{"slash", "promtact-../x", "letters, digits"},
          Row{"dot", "promtact-a.b", "letters, digits"},
          Row{"space", "promtact-a b", "letters, digits"},
          Row{"percent", "promtact-%d", "letters, digits"},
          Row{"newline", "promtact-a\n", "letters, digits"},
          Row{"embedded zero", std::string_view{"promtact-a\0b", 12}, "letters, digits"},
          Row{"not ASCII", "promtact-\xc3\xa9", "letters, digits"}}) {
        const auto name = InterfaceName::parse(row.text);
        ASSERT_FALSE(name) << row.name;
        EXPECT_EQ(name.error().code, Errc::invalid_argument) << row.name;
        EXPECT_NE(name.error().context.find(row.reason), std::string::npos)
            << row.name << ": " << name.error().context;
    }
}

TEST(SafeName, ShowsAHugeOrBinaryNameShortAndPrintable) {
    const auto name = InterfaceName::parse(std::string(100'000, '\x01'));

    ASSERT_FALSE(name);
    EXPECT_LT(name.error().context.size(), 200U);
    EXPECT_EQ(name.error().context.find('\x01'), std::string::npos);
}

TEST(SafeName, NamespaceNamesMayBeLongerThanInterfaceNames) {
    const std::string long_name = "promtact-" + std::string(32, 'n');

    EXPECT_TRUE(NamespaceName::parse(long_name));
    EXPECT_FALSE(NamespaceName::parse(long_name + "n"));
    EXPECT_FALSE(InterfaceName::parse(long_name));
}

TEST(TestAddress, ReadsOnlyTheDocumentationNetworks) {
    for (const char* text :
         {"192.0.2.1/30", "198.51.100.254/24", "203.0.113.0/32", "2001:db8::1/64",
          "2001:db8:ffff::/32"})
        EXPECT_TRUE(TestAddress::parse(text)) << text;
    for (const char* text :
         {"10.0.0.1/8", "127.0.0.1/8", "192.0.3.1/24", "192.0.2.1/23", "0.0.0.0/0", "::1/128",
          "fe80::1/64", "2001:db9::1/64", "2001:db8::1/31", "::ffff:192.0.2.1/128"}) {
        const auto address = TestAddress::parse(text);
        ASSERT_FALSE(address) << text;
        EXPECT_EQ(address.error().code, Errc::refused) << text;
    }
}

TEST(TestAddress, RefusesTextThatIsNoAddressWithPrefix) {
    for (const char* text :
         {"", "/", "192.0.2.1", "192.0.2.1/", "192.0.2.1/33", "192.0.2.1/-1", "192.0.2.1/2x",
          "192.0.2.1/ 4", "192.0.2.256/24", "192.0.2.1/256", "2001:db8::1/129", "2001:db8:::/64",
          "promtact-a/24"}) {
        const auto address = TestAddress::parse(text);
        ASSERT_FALSE(address) << text;
        EXPECT_EQ(address.error().code, Errc::invalid_argument) << text;
    }
}

TEST(TestAddress, GivesTextAndMappedBytes) {
    const auto v4 = TestAddress::parse("192.0.2.7/29");
    ASSERT_TRUE(v4);

    EXPECT_EQ(v4->text(), "192.0.2.7");
    EXPECT_EQ(v4->prefix_length(), 29);
    const std::array<std::uint8_t, 16> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 7};
    EXPECT_EQ(v4->mapped(), mapped);
}

} // namespace
} // namespace promtact::netns
