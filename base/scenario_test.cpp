// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <set>

#include <gtest/gtest.h>

#include <promtact/base/scenario.hpp>

namespace promtact {
namespace {

TEST(Scenario, EveryFaultKindHasItsWordAndBack) {
    std::set<std::string_view> words;
    for (const FaultKind kind : all_fault_kinds) {
        EXPECT_TRUE(words.insert(to_string(kind)).second);
        EXPECT_EQ(fault_kind_from(to_string(kind)), kind);
    }
    // A kind added to the enumeration but not to the table would lie behind the last one.
    EXPECT_EQ(static_cast<std::size_t>(all_fault_kinds.back()) + 1, all_fault_kinds.size());
    EXPECT_EQ(fault_kind_from("Split"), std::nullopt);
    EXPECT_EQ(fault_kind_from(""), std::nullopt);
    EXPECT_EQ(to_string(FaultKind::duplicate), "duplicate");
    EXPECT_EQ(to_string(FaultKind::mtu), "mtu");
}

TEST(Scenario, EveryDiskFaultAndPhaseHasItsWordAndBack) {
    for (const DiskFault fault : all_disk_faults)
        EXPECT_EQ(disk_fault_from(to_string(fault)), fault);
    EXPECT_EQ(to_string(DiskFault::eio), "eio");
    EXPECT_EQ(disk_fault_from("none"), std::nullopt);
    for (const std::string_view word : {"invoke", "ok", "fail", "info"})
        EXPECT_EQ(to_string(*history_phase_from(word)), word);
    EXPECT_EQ(history_phase_from("maybe"), std::nullopt);
}

TEST(Scenario, OnlyConnectionFaultsAreKernelOnly) {
    std::set<std::string_view> kernel_only;
    for (const FaultKind kind : all_fault_kinds)
        if (is_kernel_only(kind)) kernel_only.insert(to_string(kind));

    EXPECT_EQ(kernel_only, (std::set<std::string_view>{"mtu", "reset", "syn"}));
}

TEST(Scenario, WindowsAreHalfOpenAndOpenEnded) {
    const Fault window{.kind = FaultKind::loss, .start = Step(5), .end = Step(8)};
    EXPECT_FALSE(window.active(Step(4)));
    EXPECT_TRUE(window.active(Step(5)));
    EXPECT_TRUE(window.active(Step(7)));
    EXPECT_FALSE(window.active(Step(8)));

    const Fault endless{.kind = FaultKind::loss, .start = Step(5)};
    EXPECT_TRUE(endless.active(Step(1'000'000'000)));
    EXPECT_FALSE(endless.active(Step(4)));
}

TEST(Scenario, ParametersMustBeThoseOfTheKind) {
    for (const FaultKind kind : all_fault_kinds) {
        Fault fault{.kind = kind, .params = default_params(kind)};
        EXPECT_TRUE(fault.params_fit()) << to_string(kind);
        const bool takes_delay = kind == FaultKind::delay;
        fault.params = DelayParams{};
        EXPECT_EQ(fault.params_fit(), takes_delay) << to_string(kind);
    }
}

} // namespace
} // namespace promtact
