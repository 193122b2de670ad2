// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include <promtact/netns/link.hpp>
#include <promtact/netns/shaper.hpp>
#include <promtact/netns/udp_socket.hpp>

#include "kernel_fixture_internal.hpp"
#include "kill_sweep.hpp"

namespace promtact::netns {
namespace {

using namespace std::chrono_literals;

TestAddress address(const char* text) {
    return TestAddress::parse(text).value();
}

struct Two {
    Namespace a = Namespace::create().value();
    Namespace b = Namespace::create().value();
    Result<VethPair> pair = VethPair::create(
        {.where = a,
         .name = InterfaceName::literal("promtact-a"),
         .mac = fixed_mac(1),
         .addresses = {address("192.0.2.1/30"), address("2001:db8::1/64")}},
        {.where = b,
         .name = InterfaceName::literal("promtact-b"),
         .mac = fixed_mac(2),
         .addresses = {address("192.0.2.2/30"), address("2001:db8::2/64")}});
};

class NetnsLink : public KernelFixture {};

TEST_F(NetnsLink, BothEndsAreMarkedUpAndInTheirOwnNamespace) {
    Two two;
    ASSERT_TRUE(two.pair) << describe(two.pair.error());

    const auto left = two.pair->left().state();
    const auto right = two.pair->right().state();

    ASSERT_TRUE(left && right);
    for (const LinkState& state : {*left, *right}) {
        EXPECT_TRUE(state.up);
        EXPECT_TRUE(state.ready);
        EXPECT_EQ(state.group, link_group);
        EXPECT_EQ(state.alias, run_alias());
    }
    EXPECT_EQ(left->mac, fixed_mac(1));
    EXPECT_EQ(right->mac, fixed_mac(2));
    const auto in_a = take_inventory(two.a, interface_parts);
    const auto in_b = take_inventory(two.b, interface_parts);
    ASSERT_TRUE(in_a && in_b);
    EXPECT_NE(in_a->text().find("link promtact-a"), std::string::npos) << in_a->text();
    EXPECT_EQ(in_a->text().find("promtact-b"), std::string::npos);
    EXPECT_NE(in_b->text().find("address promtact-b 2001:db8::2/64"), std::string::npos)
        << in_b->text();
}

void expect_datagrams(Two& two, const TestAddress& from, const TestAddress& to) {
    auto receiver = UdpSocket::bind(two.b, to, 0);
    auto sender = UdpSocket::bind(two.a, from, 0);
    ASSERT_TRUE(receiver && sender);
    ASSERT_TRUE(sender->connect(to, receiver->port()));
    std::array<std::byte, 64> buffer{};

    const auto nothing = receiver->receive(buffer, 1ms);
    ASSERT_TRUE(sender->send(std::span{buffer}.first(33)));
    const auto size = receiver->receive(buffer, 10s); // at the latest

    ASSERT_TRUE(nothing && size);
    EXPECT_FALSE(nothing->has_value());
    EXPECT_EQ(*size, std::optional<std::size_t>{33});
}

TEST_F(NetnsLink, CarriesBothFamiliesAtOnceWithoutWaitingForDiscovery) {
    Two two;
    ASSERT_TRUE(two.pair) << describe(two.pair.error());

    expect_datagrams(two, address("192.0.2.1/30"), address("192.0.2.2/30"));
    expect_datagrams(two, address("2001:db8::1/64"), address("2001:db8::2/64"));

    const auto counters = udp_counters(two.b);
    ASSERT_TRUE(counters) << describe(counters.error());
    EXPECT_EQ(counters->in_datagrams, 2U);
    EXPECT_EQ(counters->checksum_errors, 0U);
}

TEST_F(NetnsLink, GetsNoAddressesOfItsOwn) {
    Two two;
    ASSERT_TRUE(two.pair) << describe(two.pair.error());

    const auto inside = take_inventory(two.b, interface_parts);

    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->text().find("fe80"), std::string::npos) << inside->text();
}

TEST_F(NetnsLink, DownMeansNothingArrives) {
    Two two;
    ASSERT_TRUE(two.pair);
    auto receiver = UdpSocket::bind(two.b, address("192.0.2.2/30"), 0);
    auto sender = UdpSocket::bind(two.a, address("192.0.2.1/30"), 0);
    ASSERT_TRUE(receiver && sender);
    ASSERT_TRUE(sender->connect(address("192.0.2.2/30"), receiver->port()));

    ASSERT_TRUE(two.pair->right().set_up(false));
    std::array<std::byte, 8> buffer{};
    static_cast<void>(sender->send(buffer).has_value());
    const auto size = receiver->receive(buffer, 20ms);

    ASSERT_TRUE(size);
    EXPECT_FALSE(size->has_value());
    EXPECT_FALSE(two.pair->right().state()->up);
    EXPECT_FALSE(two.pair->right().state()->ready);
}

TEST_F(NetnsLink, RemovedByItsDestructorAndByRemove) {
    Two two;
    ASSERT_TRUE(two.pair);
    {
        const VethPair moved = *std::move(two.pair);
        EXPECT_NE(take_inventory(two.b, Part::links)->text().find("promtact-b"), std::string::npos);
    }

    EXPECT_EQ(take_inventory(two.a, Part::links)->text().find("promtact-"), std::string::npos);
    EXPECT_EQ(take_inventory(two.b, Part::links)->text().find("promtact-"), std::string::npos);
}

TEST_F(NetnsLink, RefusesEqualNamesAndEqualMacs) {
    const Namespace a = Namespace::create().value();
    const Namespace b = Namespace::create().value();
    const auto name = InterfaceName::literal("promtact-a");
    const auto other = InterfaceName::literal("promtact-b");

    const auto equal_names = VethPair::create(
        {.where = a, .name = name, .mac = fixed_mac(1)},
        {.where = b, .name = name, .mac = fixed_mac(2)});
    const auto equal_macs = VethPair::create(
        {.where = a, .name = name, .mac = fixed_mac(1)},
        {.where = b, .name = other, .mac = fixed_mac(1)});

    ASSERT_FALSE(equal_names);
    EXPECT_EQ(equal_names.error().code, Errc::invalid_argument);
    ASSERT_FALSE(equal_macs);
    EXPECT_EQ(equal_macs.error().code, Errc::invalid_argument);
}

TEST_F(NetnsLink, ATakenNameIsRefusedAndItsOwnerStays) {
    Two two;
    ASSERT_TRUE(two.pair);
    const auto before = take_inventory(two.a, interface_parts);

    const auto second = VethPair::create(
        {.where = two.a, .name = InterfaceName::literal("promtact-a"), .mac = fixed_mac(5)},
        {.where = two.b, .name = InterfaceName::literal("promtact-c"), .mac = fixed_mac(6)});

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::exists) << describe(second.error());
    EXPECT_EQ(take_inventory(two.a, interface_parts)->text(), before->text());
}

TEST_F(NetnsLink, DeniedNamesTheCapability) {
    Two two;
    ASSERT_TRUE(two.pair);

    const auto end = testing_support::run_killed_at(0, [&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return false;
        const auto set = two.pair->left().add_address(address("198.51.100.1/24"));
        return !set && set.error().code == Errc::denied &&
               set.error().context.find("CAP_NET_ADMIN") != std::string::npos;
    });

    EXPECT_EQ(end, testing_support::ChildEnd::finished);
}

TEST_F(NetnsLink, ShapeIsInstalledAndReadBackOrTheMissingOptionIsNamed) {
    Two two;
    ASSERT_TRUE(two.pair);
    const auto before = take_inventory(two.a, interface_parts);

    auto shaper = Shaper::install(
        two.pair->left(),
        {.delay = 25ms, .jitter = 1ms, .loss_ppm = 100'000, .limit_packets = 500});

    if (!shaper) {
        EXPECT_EQ(shaper.error().code, Errc::unsupported) << describe(shaper.error());
        EXPECT_NE(shaper.error().context.find("CONFIG_NET_SCH_NETEM"), std::string::npos);
        EXPECT_EQ(take_inventory(two.a, interface_parts)->text(), before->text());
        GTEST_SKIP() << "needs CONFIG_NET_SCH_NETEM";
    }
    EXPECT_NE(take_inventory(two.a, Part::qdiscs)->text().find("netem"), std::string::npos);
    ASSERT_TRUE(shaper->remove());
    EXPECT_EQ(take_inventory(two.a, interface_parts)->text(), before->text());
}

TEST_F(NetnsLink, NothingRemainsAfterAKillAtAnyPoint) {
    const auto body = [] {
        Two two;
        return two.pair.has_value() && two.pair->remove().has_value();
    };
    const std::uint64_t points = testing_support::count_kill_points(body);
    ASSERT_GE(points, 5U);

    for (std::uint64_t n = 1; n <= points; ++n)
        EXPECT_EQ(testing_support::run_killed_at(n, body), testing_support::ChildEnd::killed) << n;
}

} // namespace
} // namespace promtact::netns
