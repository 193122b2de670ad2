// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <bit>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <promtact/base/error_text.hpp>
#include <promtact/ebpf/fault_program.hpp>

#include "test_frame_internal.hpp"

namespace promtact::ebpf {
namespace {

constexpr std::uint64_t packets = 20'000;

class EbpfFaultProgram : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root (CAP_BPF, CAP_NET_ADMIN)";
    }
};

TEST_F(EbpfFaultProgram, BothProgramsAreVerifiedCompiledAndShareOnePolicyMap) {
    const auto program = FaultProgram::load();
    ASSERT_TRUE(program) << describe(program.error());

    for (const ProgramFacts& facts : {program->xdp_facts(), program->tc_facts()}) {
        EXPECT_GT(facts.jited_bytes, 0U) << facts.name;
        EXPECT_GT(facts.translated_bytes, 0U) << facts.name;
        EXPECT_TRUE(std::binary_search(
            facts.map_ids.begin(), facts.map_ids.end(), program->policy_map_id()))
            << facts.name;
    }
    EXPECT_EQ(program->xdp_facts().map_ids, program->tc_facts().map_ids);
}

TEST_F(EbpfFaultProgram, TheVerifierRefusesAProgramThatReadsBehindThePacket) {
    const auto program = FaultProgram::load({.with_unsafe_program = true});

    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code, Errc::refused) << describe(program.error());
    EXPECT_NE(program.error().context.find("outside of the packet"), std::string::npos)
        << program.error().context;
}

TEST_F(EbpfFaultProgram, ReadsBackEveryPolicyItWrites) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    EXPECT_EQ(*program->read(), FaultPolicy{});

    for (std::uint32_t i = 1; i <= 5; ++i) {
        const FaultPolicy policy{.seed = i, .xdp_drop_ppm = i, .match_protocol = 17};
        ASSERT_TRUE(program->write(policy));
        EXPECT_EQ(*program->read(), policy);
        EXPECT_EQ(*program->epoch(), i);
    }
    EXPECT_FALSE(program->write({.tc_drop_ppm = 1'000'001}));
    EXPECT_EQ(program->read()->seed, 5U);
}

/// One run of 20,000 packets at XDP as a string of fates.
std::string xdp_fates(FaultProgram& program, const Frame& frame) {
    EXPECT_TRUE(program.reset());
    std::string fates;
    for (std::uint64_t index = 0; index < packets; ++index) {
        const auto verdict = program.run_xdp(frame);
        if (!verdict) return describe(verdict.error());
        fates += verdict->passed ? '.' : 'x';
    }
    return fates;
}

TEST_F(EbpfFaultProgram, TwentyThousandXdpDecisionsEqualTheModelTwice) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    const FaultPolicy policy{
        .seed = 0x4A2C, .xdp_link = promtact_link(1, 2), .xdp_drop_ppm = 100'000};
    ASSERT_TRUE(program->write(policy));
    FrameLayout layout;
    const Frame frame = make_frame({}, layout);
    std::string model;
    for (std::uint64_t index = 0; index < packets; ++index)
        model += xdp_drops(policy, index) ? 'x' : '.';

    const std::string first = xdp_fates(*program, frame);
    const std::string second = xdp_fates(*program, frame);

    EXPECT_TRUE(first == model);
    EXPECT_TRUE(second == model);
    const auto lost = static_cast<std::uint64_t>(std::count(model.begin(), model.end(), 'x'));
    EXPECT_GT(lost, packets / 20) << "a model that drops nothing proves nothing";
    const auto counters = program->counters();
    ASSERT_TRUE(counters);
    EXPECT_EQ((*counters)[PROMTACT_COUNT_XDP_SEEN], packets);
    EXPECT_EQ((*counters)[PROMTACT_COUNT_XDP_LOST], lost);
    EXPECT_EQ((*counters)[PROMTACT_COUNT_XDP_PASSED], packets - lost);
}

/// How two frames differ: the number of changed bits in the payload, and the first of them.
struct Damage {
    int payload_bits = 0;
    std::uint32_t first_bit = 0;
    bool header_changed = false;
};

Damage compare(const Frame& before, const Frame& after, const FrameLayout& layout) {
    Damage damage;
    if (before.size() != after.size()) return {.header_changed = true};
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto changed = std::to_integer<std::uint8_t>(before[i] ^ after[i]);
        if (changed == 0) continue;
        if (i < layout.payload || i >= layout.end) {
            damage.header_changed = true;
            continue;
        }
        damage.payload_bits += std::popcount(changed);
        damage.first_bit = static_cast<std::uint32_t>(
            (i - layout.payload) * 8 + static_cast<std::size_t>(std::countr_zero(changed)));
    }
    return damage;
}

TEST_F(EbpfFaultProgram, TwentyThousandTcDecisionsAndFlippedBitsEqualTheModel) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    const FaultPolicy policy{
        .seed = 99,
        .tc_link = promtact_link(3, 4),
        .tc_drop_ppm = 50'000,
        .tc_corrupt_ppm = 200'000};
    ASSERT_TRUE(program->write(policy));
    FrameLayout layout;
    const FrameOptions options{.payload_bytes = 61};
    const Frame frame = make_frame(options, layout);

    std::uint64_t wrong = 0;
    std::uint64_t corrupted = 0;
    for (std::uint64_t index = 0; index < packets; ++index) {
        const auto verdict = program->run_tc(frame);
        ASSERT_TRUE(verdict) << describe(verdict.error());
        const bool drops = tc_drops(policy, index);
        if (verdict->passed == drops) ++wrong;
        if (drops) continue;
        const Damage damage = compare(frame, verdict->frame, layout);
        const bool corrupts = tc_corrupts(policy, index);
        corrupted += corrupts ? 1 : 0;
        if (damage.header_changed || damage.payload_bits != (corrupts ? 1 : 0)) ++wrong;
        if (corrupts && damage.first_bit != corrupted_bit(policy, index, 61)) ++wrong;
    }

    EXPECT_EQ(wrong, 0U);
    EXPECT_GT(corrupted, packets / 10);
    EXPECT_EQ((*program->counters())[PROMTACT_COUNT_TC_CORRUPTED], corrupted);
}

struct FrameRow {
    const char* name;
    FrameOptions options;
};

const std::vector<FrameRow>& damaged_frames() {
    static const std::vector<FrameRow> rows{
        {"IPv4 UDP", {}},
        {"IPv4 UDP, odd payload", {.payload_bytes = 33}},
        {"IPv4 UDP, one byte", {.payload_bytes = 1}},
        {"IPv4 TCP", {.tcp = true}},
        {"IPv4 options", {.ip_option_words = 10}},
        {"one VLAN tag", {.vlan_tags = 1}},
        {"two VLAN tags", {.vlan_tags = 2}},
        {"padded frame", {.payload_bytes = 4, .padding_bytes = 20}},
        {"IPv6 UDP", {.v6 = true}},
        {"IPv6 TCP, odd payload", {.v6 = true, .tcp = true, .payload_bytes = 17}},
        {"IPv6 in a VLAN", {.v6 = true, .vlan_tags = 1}}};
    return rows;
}

TEST_F(EbpfFaultProgram, CorruptionStaysInThePayloadAndOnlyRepairKeepsTheChecksumRight) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    for (const CorruptMode mode : {CorruptMode::detected, CorruptMode::undetected}) {
        ASSERT_TRUE(program->write({.seed = 5, .tc_corrupt_ppm = 1'000'000, .corrupt_mode = mode}));
        for (const FrameRow& row : damaged_frames()) {
            FrameLayout layout;
            const Frame frame = make_frame(row.options, layout);
            ASSERT_EQ(transport_sum(frame, layout, row.options), 0xffff) << row.name;
            const auto verdict = program->run_tc(frame);
            ASSERT_TRUE(verdict) << row.name << ": " << describe(verdict.error());
            const Damage damage = compare(frame, verdict->frame, layout);
            EXPECT_EQ(damage.payload_bits, 1) << row.name;
            const bool repaired = mode == CorruptMode::undetected;
            EXPECT_EQ(damage.header_changed, repaired) << row.name;
            const bool right = transport_sum(verdict->frame, layout, row.options) == 0xffff;
            EXPECT_EQ(right, repaired) << row.name;
        }
    }
}

TEST_F(EbpfFaultProgram, LaterFragmentsAreDamagedBehindTheirIpHeader) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    ASSERT_TRUE(program->write({.seed = 5, .tc_corrupt_ppm = 1'000'000}));
    for (const bool v6 : {false, true}) {
        FrameLayout layout;
        const Frame frame = make_frame({.v6 = v6, .later_fragment = true}, layout);

        const auto verdict = program->run_tc(frame);

        ASSERT_TRUE(verdict);
        const Damage damage = compare(frame, verdict->frame, layout);
        EXPECT_EQ(damage.payload_bits, 1) << v6;
        EXPECT_FALSE(damage.header_changed) << v6;
    }
}

TEST_F(EbpfFaultProgram, AnEmptyPayloadCannotBeDamagedAndIsCounted) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    ASSERT_TRUE(program->write({.tc_corrupt_ppm = 1'000'000}));
    FrameLayout layout;
    const Frame frame = make_frame({.payload_bytes = 0, .padding_bytes = 18}, layout);

    const auto verdict = program->run_tc(frame);

    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->passed);
    EXPECT_EQ(verdict->frame, frame);
    EXPECT_EQ((*program->counters())[PROMTACT_COUNT_TC_INCORRUPTIBLE], 1U);
}

Frame arp_frame(std::uint8_t sender, std::uint8_t target) {
    Frame frame;
    for (int i = 0; i < 6; ++i)
        put16(frame, 0x0250);
    put16(frame, 0x0806);
    for (const unsigned half : {1U, 0x0800U, 0x0604U, 1U, 0x0250U, 0x4d00U, 1U, 0xc000U})
        put16(frame, half);
    put8(frame, 2);
    put8(frame, sender);
    for (const unsigned half : {0U, 0U, 0U, 0xc000U})
        put16(frame, half);
    put8(frame, 2);
    put8(frame, target);
    return frame;
}

TEST_F(EbpfFaultProgram, APartitionHoldsForBothFamiliesAndForArp) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    FrameLayout layout;
    for (const bool v6 : {false, true}) {
        FaultPolicy policy;
        policy.blocked_source = IpAddress::parse(v6 ? "2001:db8::1" : "192.0.2.1").value();
        policy.blocked_destination = IpAddress::parse(v6 ? "2001:db8::9" : "192.0.2.9").value();
        ASSERT_TRUE(program->write(policy));
        ASSERT_TRUE(program->reset());

        const Frame from_blocked = make_frame({.v6 = v6, .source = 1, .destination = 2}, layout);
        const Frame to_blocked = make_frame({.v6 = v6, .source = 3, .destination = 9}, layout);
        const Frame other = make_frame({.v6 = v6, .source = 3, .destination = 2}, layout);
        const Frame reversed = make_frame({.v6 = v6, .source = 9, .destination = 1}, layout);
        const Frame tagged = make_frame({.v6 = v6, .vlan_tags = 2, .source = 1}, layout);

        EXPECT_FALSE(program->run_xdp(from_blocked)->passed);
        EXPECT_FALSE(program->run_xdp(to_blocked)->passed);
        EXPECT_FALSE(program->run_xdp(tagged)->passed);
        EXPECT_TRUE(program->run_xdp(other)->passed);
        EXPECT_TRUE(program->run_xdp(reversed)->passed);
        EXPECT_EQ(program->run_xdp(arp_frame(1, 2))->passed, v6);
        EXPECT_EQ(program->run_xdp(arp_frame(3, 9))->passed, v6);
        EXPECT_TRUE(program->run_xdp(arp_frame(3, 2))->passed);
        const auto counters = program->counters();
        ASSERT_TRUE(counters);
        EXPECT_EQ((*counters)[PROMTACT_COUNT_XDP_BLOCKED_SOURCE], v6 ? 2U : 3U);
        EXPECT_EQ((*counters)[PROMTACT_COUNT_XDP_BLOCKED_DESTINATION], v6 ? 1U : 2U);
    }
}

TEST_F(EbpfFaultProgram, RatesNeitherTouchNorCountWhatTheyDoNotConcern) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    ASSERT_TRUE(program->write(
        {.xdp_drop_ppm = 1'000'000, .tc_drop_ppm = 1'000'000, .match_protocol = 17}));
    FrameLayout layout;
    const Frame tcp = make_frame({.tcp = true}, layout);
    const Frame udp = make_frame({}, layout);

    for (const Frame& frame : {tcp, arp_frame(1, 2)}) {
        EXPECT_TRUE(program->run_xdp(frame)->passed);
        EXPECT_TRUE(program->run_tc(frame)->passed);
    }
    EXPECT_FALSE(program->run_xdp(udp)->passed);
    EXPECT_FALSE(program->run_tc(udp)->passed);
    EXPECT_EQ((*program->counters())[PROMTACT_COUNT_XDP_OTHER], 2U);
    EXPECT_EQ((*program->counters())[PROMTACT_COUNT_TC_OTHER], 2U);
}

TEST_F(EbpfFaultProgram, RatesOfTheTwoHooksAreIndependent) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    FrameLayout layout;
    const Frame frame = make_frame({}, layout);

    ASSERT_TRUE(program->write({.xdp_drop_ppm = 1'000'000}));
    EXPECT_FALSE(program->run_xdp(frame)->passed);
    EXPECT_TRUE(program->run_tc(frame)->passed);
    ASSERT_TRUE(program->write({.tc_drop_ppm = 1'000'000}));
    EXPECT_TRUE(program->run_xdp(frame)->passed);
    EXPECT_FALSE(program->run_tc(frame)->passed);
}

TEST_F(EbpfFaultProgram, EveryTruncationOfAFrameIsHandledWithoutADrop) {
    auto program = FaultProgram::load();
    ASSERT_TRUE(program);
    ASSERT_TRUE(program->write({.tc_corrupt_ppm = 1'000'000}));
    for (const FrameRow& row : damaged_frames()) {
        FrameLayout layout;
        const Frame frame = make_frame(row.options, layout);
        for (std::size_t length = 15; length < frame.size(); ++length) {
            const Frame cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
            const auto xdp = program->run_xdp(cut);
            ASSERT_TRUE(xdp) << row.name << " cut to " << length;
            EXPECT_TRUE(xdp->passed) << row.name << " cut to " << length;
            const auto tc = program->run_tc(cut);
            // The kernel makes no socket buffer of a frame that ends in its network header.
            const std::size_t network_end = layout.network + (row.options.v6 ? 40 : 20);
            ASSERT_TRUE(tc || length < network_end) << row.name << " cut to " << length;
            EXPECT_TRUE(!tc || tc->passed) << row.name << " cut to " << length;
        }
    }
}

TEST_F(EbpfFaultProgram, DeniedNamesTheCapabilities) {
    const pid_t child = ::fork();
    if (child == 0) {
        const bool dropped = ::setgid(65534) == 0 && ::setuid(65534) == 0;
        const auto program = FaultProgram::load();
        const bool named = !program && program.error().code == Errc::denied &&
                           program.error().context.find("CAP_BPF") != std::string::npos;
        ::_exit(dropped && named ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace promtact::ebpf
