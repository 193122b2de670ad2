// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/ebpf/fault_program.hpp>

#include "gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

using namespace testing_gates;

std::string host() {
    const auto programs = ebpf::our_programs();
    if (!programs) return describe(programs.error());
    std::string text;
    for (const std::uint32_t id : *programs)
        text += "program " + std::to_string(id) + "\n";
    return text;
}

class GateBpfLoad : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_BPF, CAP_NET_ADMIN)";
        before_ = at_rest(host);
    }
    void TearDown() override {
        if (IsSkipped()) return;
        EXPECT_EQ(settled(host, before_), before_);
    }
    std::string before_;
};

TEST_F(GateBpfLoad, PassesAndUnloadsEverything) {
    const auto report = run_body(run_bpf_load);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    expect_complete(bpf_load_info);
}

TEST_F(GateBpfLoad, ControlFailsWithTheVerifiersWords) {
    const auto report = run_body(run_bpf_load, true);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_NE(report->reason.find("the verifier refused"), std::string::npos) << report->reason;
}

TEST_F(GateBpfLoad, AnOrdinaryUserIsToldTheCapability) {
    expect_denied(run_bpf_load, "CAP_BPF");
}

TEST_F(GateBpfLoad, NothingRemainsWhenKilledAtAnyPoint) {
    expect_nothing_left_at_any_kill_point(run_bpf_load, host);
}

TEST_F(GateBpfLoad, NothingRemainsWhenKilledAtRandomTimes) {
    expect_nothing_left_at_random_times(run_bpf_load, host);
}

} // namespace
} // namespace promtact::gates
