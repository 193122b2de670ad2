// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cmath>

#include <gtest/gtest.h>

#include <promtact/netns/leak_audit.hpp>

#include "flow_internal.hpp"
#include "gate.hpp"
#include "testing/gate_suite.hpp"

namespace promtact::gates {
namespace {

using namespace testing_gates;
using packet_fault::Phase;

/// P(X <= k) for n draws of 10 %, added up term by term.
long double at_most(std::uint64_t n, std::uint64_t k) {
    long double sum = 0;
    for (std::uint64_t i = 0; i <= k; ++i) {
        const auto x = static_cast<long double>(i);
        const auto all = static_cast<long double>(n);
        sum += std::exp(
            std::lgamma(all + 1) - std::lgamma(x + 1) - std::lgamma(all - x + 1) +
            x * std::log(0.1L) + (all - x) * std::log(0.9L));
    }
    return sum;
}

TEST(GatePacketFaultInterval, HoldsExactlyTheStatedTails) {
    for (const std::uint64_t n : {5'000ULL, 20'000ULL}) {
        const auto interval = packet_fault::ten_percent_interval(n);
        ASSERT_TRUE(interval);
        constexpr long double tail = 5e-7L;
        EXPECT_LE(at_most(n, interval->low - 1), tail) << n;
        EXPECT_GT(at_most(n, interval->low), tail) << n;
        EXPECT_LE(1 - at_most(n, interval->high), tail) << n;
        EXPECT_GT(1 - at_most(n, interval->high - 1), tail) << n;
    }
    EXPECT_FALSE(packet_fault::ten_percent_interval(5'001));
}

/// An observation that agrees with the prediction in everything.
packet_fault::Observation agreeing(const Phase& phase, const packet_fault::Prediction& predicted) {
    packet_fault::Observation out;
    out.sent = phase.packets;
    out.arrivals = predicted.arrivals;
    out.other_sent = 10;
    out.other_received = 10;
    out.counters.values[PROMTACT_COUNT_TC_LOST] = predicted.tc_lost;
    out.counters.values[PROMTACT_COUNT_XDP_LOST] = predicted.xdp_lost;
    out.counters.values[PROMTACT_COUNT_TC_CORRUPTED] = predicted.tc_corrupted;
    out.kernel.checksum_errors = predicted.checksum_errors;
    return out;
}

TEST(GatePacketFaultJudgement, NoticesEveryDisagreement) {
    Phase phase;
    phase.name = "phase";
    phase.packets = 5'000;
    phase.policy.seed = 1;
    phase.policy.xdp_drop_ppm = 100'000;
    phase.policy.tc_corrupt_ppm = 100'000;
    const auto predicted = packet_fault::predict(phase, 3);
    ASSERT_GT(predicted.checksum_errors, 0U);
    ASSERT_EQ(packet_fault::judge(phase, predicted, agreeing(phase, predicted)), "");
    struct Row {
        const char* said;
        std::function<void(packet_fault::Observation&)> break_it;
    };
    using Seen = packet_fault::Observation;
    for (const Row& row :
         {Row{"sent", [](Seen& s) { --s.sent; }},
          Row{"other link", [](Seen& s) { --s.other_received; }},
          Row{"overflows", [](Seen& s) { ++s.kernel.receive_buffer_errors; }},
          Row{"lost by XDP", [](Seen& s) { --s.counters.values[PROMTACT_COUNT_XDP_LOST]; }},
          Row{"lost by TC", [](Seen& s) { ++s.counters.values[PROMTACT_COUNT_TC_LOST]; }},
          Row{"damaged", [](Seen& s) { ++s.counters.values[PROMTACT_COUNT_TC_CORRUPTED]; }},
          Row{"found damaged", [](Seen& s) { --s.kernel.checksum_errors; }},
          Row{"received", [](Seen& s) { s.arrivals.pop_back(); }},
          Row{"received", [](Seen& s) { s.arrivals.push_back(s.arrivals.back()); }},
          Row{"wrong size", [](Seen& s) { ++s.wrong_sizes; }},
          Row{"differs", [](Seen& s) { s.arrivals[7][9] ^= std::byte{1}; }},
          Row{"differs", [](Seen& s) { std::swap(s.arrivals[0], s.arrivals[1]); }}}) {
        auto seen = agreeing(phase, predicted);
        row.break_it(seen);
        const std::string finding = packet_fault::judge(phase, predicted, seen);
        EXPECT_NE(finding.find(row.said), std::string::npos) << row.said << ": " << finding;
    }
}

std::string host() {
    const auto inventory = netns::take_inventory(netns::network_parts);
    return inventory ? inventory->text() : describe(inventory.error());
}

class GatePacketFault : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_BPF)";
        before_ = at_rest(host);
    }
    void TearDown() override {
        if (IsSkipped()) return;
        EXPECT_EQ(settled(host, before_), before_);
    }
    std::string before_;
};

TEST_F(GatePacketFault, PassesWithEveryPacketAccountedFor) {
    const auto report = run_body(run_packet_fault);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->verdict, Verdict::pass) << report->reason;
    expect_complete(packet_fault_info);
}

TEST_F(GatePacketFault, ControlFailsBecauseNothingWasLost) {
    const auto report = run_body(run_packet_fault, true);

    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_EQ(report->verdict, Verdict::fail);
    EXPECT_NE(report->reason.find("lost by XDP is 0"), std::string::npos) << report->reason;
}

TEST_F(GatePacketFault, AnOrdinaryUserIsToldTheCapability) {
    expect_denied(run_packet_fault, "CAP_SYS_ADMIN");
}

TEST_F(GatePacketFault, NothingRemainsWhenKilledAtAnyPoint) {
    expect_nothing_left_at_any_kill_point(run_packet_fault, host);
}

TEST_F(GatePacketFault, NothingRemainsWhenKilledAtRandomTimes) {
    expect_nothing_left_at_random_times(run_packet_fault, host);
}

struct Mechanism {
    const char* name;
    ebpf::XdpMode xdp;
    ebpf::TcMechanism tc;
};

TEST_F(GatePacketFault, EveryWayOfAttachingDecidesTheSameAndDetachesWithoutTrace) {
    for (const Mechanism& way :
         {Mechanism{"native and tcx", ebpf::XdpMode::native, ebpf::TcMechanism::tcx},
          Mechanism{"generic and clsact", ebpf::XdpMode::generic, ebpf::TcMechanism::clsact}}) {
        auto testbed = packet_fault::Testbed::build();
        ASSERT_TRUE(testbed) << describe(testbed.error());
        const auto quiet = netns::take_inventory(testbed->sender, netns::interface_parts);
        const auto quiet_far = netns::take_inventory(testbed->receiver, netns::interface_parts);
        auto program = ebpf::FaultProgram::load();
        ASSERT_TRUE(program);
        const auto in =
            ebpf::AttachTarget::verify(testbed->receiver.fd(), testbed->faulty.right().index());
        const auto out =
            ebpf::AttachTarget::verify(testbed->sender.fd(), testbed->faulty.left().index());
        ASSERT_TRUE(in && out);
        ASSERT_TRUE(program->attach_xdp(*in, way.xdp)) << way.name;
        const auto attached = program->attach_tc(*out, way.tc);
        // Before Linux 6.6 there is no tcx; clsact must work everywhere.
        const bool may_lack = way.tc == ebpf::TcMechanism::tcx;
        if (may_lack && !attached && attached.error().code == Errc::unsupported) continue;
        ASSERT_TRUE(attached) << way.name << ": " << describe(attached.error());
        EXPECT_EQ(program->tc_mechanism(), way.tc);
        EXPECT_EQ(program->attach_tc(*out, way.tc).error().code, Errc::exists);
        const auto busy = netns::take_inventory(testbed->sender, netns::interface_parts);
        EXPECT_FALSE(netns::difference(*quiet, *busy).empty()) << "the audit sees no attachment";

        Phase phase;
        phase.name = way.name;
        phase.packets = 1'000;
        phase.policy.seed = 11;
        phase.policy.xdp_drop_ppm = 200'000;
        phase.policy.tc_drop_ppm = 200'000;
        phase.policy.match_protocol = 17;
        ASSERT_TRUE(program->write(phase.policy));
        // What the kernel itself sent before (neighbour discovery, group reports) had an index too.
        ASSERT_TRUE(program->reset());
        const auto observed = packet_fault::run_flow(*testbed, *program, phase, 1);
        ASSERT_TRUE(observed) << describe(observed.error());
        EXPECT_EQ(packet_fault::judge(phase, packet_fault::predict(phase, 1), *observed), "");

        ASSERT_TRUE(program->detach());
        EXPECT_EQ(
            netns::difference(
                *quiet, *netns::take_inventory(testbed->sender, netns::interface_parts))
                .text(),
            "")
            << way.name;
        EXPECT_EQ(
            netns::difference(
                *quiet_far, *netns::take_inventory(testbed->receiver, netns::interface_parts))
                .text(),
            "")
            << way.name;
    }
}

TEST_F(GatePacketFault, AnXdpHookThatIsTakenIsLeftToItsOwner) {
    auto testbed = packet_fault::Testbed::build();
    ASSERT_TRUE(testbed);
    auto first = ebpf::FaultProgram::load();
    auto second = ebpf::FaultProgram::load();
    ASSERT_TRUE(first && second);
    const auto target =
        ebpf::AttachTarget::verify(testbed->receiver.fd(), testbed->faulty.right().index());
    ASSERT_TRUE(target);
    ASSERT_TRUE(first->attach_xdp(*target, ebpf::XdpMode::native));

    const auto refused = second->attach_xdp(*target, ebpf::XdpMode::native);

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::busy) << describe(refused.error());
}

} // namespace
} // namespace promtact::gates
