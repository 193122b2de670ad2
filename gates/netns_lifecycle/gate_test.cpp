// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/netns/leak_audit.hpp>

#include "gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

using namespace testing_gates;

std::string host() {
    const auto inventory = netns::take_inventory(netns::network_parts);
    return inventory ? inventory->text() : describe(inventory.error());
}

class GateNetnsLifecycle : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN)";
        before_ = at_rest(host);
    }
    void TearDown() override {
        if (IsSkipped()) return;
        EXPECT_EQ(settled(host, before_), before_);
    }
    std::string before_;
};

TEST_F(GateNetnsLifecycle, PassesAndLosesNothing) {
    const auto report = run_body(run_netns_lifecycle);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    expect_complete(netns_lifecycle_info);
}

TEST_F(GateNetnsLifecycle, ControlFailsBecauseANamespaceIsStillAlive) {
    const auto report = run_body(run_netns_lifecycle, true);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_NE(report->reason.find("still there"), std::string::npos) << report->reason;
}

TEST_F(GateNetnsLifecycle, AnOrdinaryUserIsToldTheCapability) {
    expect_denied(run_netns_lifecycle, "CAP_SYS_ADMIN");
}

TEST_F(GateNetnsLifecycle, NothingRemainsWhenKilledAtAnyPoint) {
    expect_nothing_left_at_any_kill_point(run_netns_lifecycle, host);
}

TEST_F(GateNetnsLifecycle, NothingRemainsWhenKilledAtRandomTimes) {
    expect_nothing_left_at_random_times(run_netns_lifecycle, host);
}

} // namespace
} // namespace promtact::gates
