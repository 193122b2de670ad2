// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/netns/leak_audit.hpp>

#include "delay_internal.hpp"
#include "gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

using namespace testing_gates;

constexpr std::uint64_t ms = 1'000'000;

link_delay::RoundTrips trips(std::uint64_t ns) {
    link_delay::RoundTrips out;
    for (std::uint64_t i = 0; i < 20; ++i)
        out.latency_ns.record(ns + i * 1000);
    out.sent = 20;
    return out;
}

link_delay::Measured good() {
    return {
        .before = trips(ms / 20),
        .delayed = trips(25 * ms + ms / 10),
        .beside = trips(ms / 20),
        .after = trips(ms / 20),
        .delay_ns = 25 * ms};
}

TEST(GateLinkDelayJudgement, AcceptsARoundTripThatMovedByTheDelay) {
    EXPECT_EQ(link_delay::judge(good()), "");
}

TEST(GateLinkDelayJudgement, RefusesEverythingElseAndSaysWhere) {
    struct Row {
        const char* name;
        const char* said;
        std::function<void(link_delay::Measured&)> break_it;
    };
    for (const Row& row :
         {Row{"no delay at all", "with the delay", [](auto& m) { m.delayed = trips(ms / 20); }},
          Row{"too early", "less than", [](auto& m) { m.delayed = trips(25 * ms - 30'000); }},
          Row{"too late", "with the delay", [](auto& m) { m.delayed = trips(31 * ms); }},
          Row{"lost probes", "with the delay", [](auto& m) { m.delayed.lost = 1; }},
          Row{"other link slow", "the other link", [](auto& m) { m.beside = trips(25 * ms); }},
          Row{"other link lossy", "the other link", [](auto& m) { m.beside.lost = 2; }},
          Row{"not healed", "after", [](auto& m) { m.after = trips(25 * ms); }},
          Row{"host too busy", "before", [](auto& m) { m.before = trips(6 * ms); }}}) {
        link_delay::Measured measured = good();
        row.break_it(measured);
        const std::string finding = link_delay::judge(measured);
        EXPECT_NE(finding.find(row.said), std::string::npos) << row.name << ": " << finding;
    }
}

std::string host() {
    const auto inventory = netns::take_inventory(netns::network_parts);
    return inventory ? inventory->text() : describe(inventory.error());
}

class GateLinkDelay : public testing::Test {
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

TEST_F(GateLinkDelay, PassesOrNamesTheMissingKernelOption) {
    const auto report = run_body(run_link_delay);
    expect_complete(link_delay_info);

    if (!report) {
        ASSERT_EQ(report.error().code, Errc::unsupported) << describe(report.error());
        EXPECT_NE(report.error().context.find("CONFIG_NET_SCH_NETEM"), std::string::npos);
        return;
    }
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
}

TEST_F(GateLinkDelay, ControlFailsBecauseTheRoundTripDidNotMove) {
    const auto report = run_body(run_link_delay, true);

    if (!report) {
        ASSERT_EQ(report.error().code, Errc::unsupported) << describe(report.error());
        GTEST_SKIP() << "needs CONFIG_NET_SCH_NETEM";
    }
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_NE(report->reason.find("less than the configured"), std::string::npos) << report->reason;
}

TEST_F(GateLinkDelay, AnOrdinaryUserIsToldTheCapability) {
    expect_denied(run_link_delay, "CAP_SYS_ADMIN");
}

TEST_F(GateLinkDelay, NothingRemainsWhenKilledAtAnyPoint) {
    if (!run_body(run_link_delay)) GTEST_SKIP() << "needs CONFIG_NET_SCH_NETEM";
    expect_nothing_left_at_any_kill_point(run_link_delay, host);
}

TEST_F(GateLinkDelay, NothingRemainsWhenKilledAtRandomTimes) {
    expect_nothing_left_at_random_times(run_link_delay, host);
}

} // namespace
} // namespace promtact::gates
