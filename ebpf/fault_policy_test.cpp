// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/ebpf/fault_policy.hpp>

namespace promtact::ebpf {
namespace {

TEST(FaultPolicy, RatesOutsideOneMillionAreRefusedAndNamed) {
    struct Row {
        std::string_view field;
        FaultPolicy policy;
    };
    for (const Row& row :
         {Row{"xdp drop", {.xdp_drop_ppm = 1'000'001}}, Row{"tc drop", {.tc_drop_ppm = 1'000'001}},
          Row{"tc corrupt", {.tc_corrupt_ppm = ~0U}}}) {
        const auto checked = check(row.policy);
        ASSERT_FALSE(checked) << row.field;
        EXPECT_EQ(checked.error().code, Errc::invalid_argument);
        EXPECT_NE(checked.error().context.find(row.field), std::string::npos);
    }
    EXPECT_TRUE(check({.xdp_drop_ppm = 1'000'000, .tc_drop_ppm = 0}));
}

TEST(FaultPolicy, ComesBackFromTheMapLayoutUnchanged) {
    FaultPolicy policy{
        .seed = ~std::uint64_t{0},
        .xdp_link = 1,
        .tc_link = 2,
        .xdp_drop_ppm = 100'000,
        .tc_drop_ppm = 1,
        .tc_corrupt_ppm = 999'999,
        .corrupt_mode = CorruptMode::undetected};
    policy.blocked_source = IpAddress::parse("192.0.2.1").value();
    policy.blocked_destination = IpAddress::parse("2001:db8::7").value();
    policy.match_protocol = 17;

    const auto again = from_shared(to_shared(policy));

    ASSERT_TRUE(again) << again.error().context;
    EXPECT_EQ(*again, policy);
}

TEST(FaultPolicy, AMapThatHoldsNonsenseIsCorrupt) {
    promtact_fault_policy flags = to_shared({});
    flags.flags = 8;
    promtact_fault_policy rate = to_shared({});
    rate.tc_drop_ppm = 1'000'001;

    EXPECT_EQ(from_shared(flags).error().code, Errc::corrupt);
    EXPECT_EQ(from_shared(rate).error().code, Errc::corrupt);
}

TEST(FaultPolicy, AddressesAreReadStrictly) {
    EXPECT_TRUE(IpAddress::parse("192.0.2.1"));
    EXPECT_TRUE(IpAddress::parse("2001:db8::1"));
    EXPECT_EQ(*IpAddress::parse("192.0.2.1"), *IpAddress::parse("::ffff:192.0.2.1"));
    for (const char* text :
         {"", "0.0.0.0", "::", "192.0.2", "192.0.2.1/24", "192.0.2.1 ", "eth0", "2001:db8:::1"}) {
        const auto address = IpAddress::parse(text);
        ASSERT_FALSE(address) << text;
        EXPECT_EQ(address.error().code, Errc::invalid_argument);
    }
    EXPECT_FALSE(IpAddress::parse(std::string(100'000, '1')));
}

TEST(FaultPolicy, ModelIsNeverAtZeroAndAlwaysAtOneMillion) {
    const FaultPolicy never{.seed = 7};
    const FaultPolicy always{.seed = 7, .xdp_drop_ppm = 1'000'000, .tc_drop_ppm = 1'000'000};
    for (std::uint64_t index = 0; index < 10'000; ++index) {
        EXPECT_FALSE(xdp_drops(never, index));
        EXPECT_FALSE(tc_drops(never, index));
        EXPECT_TRUE(xdp_drops(always, index));
        EXPECT_TRUE(tc_drops(always, index));
    }
}

TEST(FaultPolicy, TheTwoHooksDecideIndependently) {
    const FaultPolicy policy{
        .seed = 7, .xdp_link = 1, .tc_link = 2, .xdp_drop_ppm = 500'000, .tc_drop_ppm = 500'000};
    int agreed = 0;
    for (std::uint64_t index = 0; index < 10'000; ++index)
        agreed += xdp_drops(policy, index) == tc_drops(policy, index) ? 1 : 0;

    EXPECT_GT(agreed, 4'700);
    EXPECT_LT(agreed, 5'300);
}

} // namespace
} // namespace promtact::ebpf
