// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Puts the fault programs on a link between two namespaces and holds every packet to the model:
// none, ten percent and all lost at either hook, partitions, damage that is detected and damage
// that is not, and an untouched link beside it.
#include "gate.hpp"

#include <array>
#include <chrono>

#include "flow_internal.hpp"

namespace promtact::gates::packet_fault {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t tenth_ppm = 100'000;
constexpr std::uint32_t all_ppm = 1'000'000;
constexpr std::uint64_t few = 192;
constexpr std::uint8_t udp = 17;
constexpr std::string_view sabotaged_phase = "xdp_drop_tenth";

constexpr std::array<std::string_view, 2> qualified{"ebpf", "netns"};
constexpr std::array<std::string_view, 2> required{"bpf_load", "netns_lifecycle"};
constexpr std::array needs{
    Need{Need::Kind::capability, "CAP_SYS_ADMIN", "run as root: namespaces need it"},
    Need{Need::Kind::capability, "CAP_NET_ADMIN", "run as root: links and programs need it"},
    Need{Need::Kind::capability, "CAP_BPF", "run as root: loading programs needs it"}};

Result<std::vector<Phase>> all_phases(std::uint64_t seed, std::uint64_t many) {
    PROMTACT_TRY_ASSIGN(const auto from_v4, ebpf::IpAddress::parse("192.0.2.1"));
    PROMTACT_TRY_ASSIGN(const auto to_v4, ebpf::IpAddress::parse("192.0.2.2"));
    PROMTACT_TRY_ASSIGN(const auto from_v6, ebpf::IpAddress::parse("2001:db8::1"));
    PROMTACT_TRY_ASSIGN(const auto to_v6, ebpf::IpAddress::parse("2001:db8::2"));
    using P = ebpf::FaultPolicy;
    using Hook = Phase::Interval;
    std::vector<Phase> phases{
        {.name = "untouched", .packets = few},
        {.name = "xdp_drop_tenth",
         .policy = P{.xdp_drop_ppm = tenth_ppm},
         .packets = many,
         .interval = Hook::xdp},
        {.name = "tc_drop_tenth",
         .policy = P{.tc_drop_ppm = tenth_ppm},
         .packets = many,
         .interval = Hook::tc},
        {.name = "both_drop_tenth",
         .policy = P{.xdp_drop_ppm = tenth_ppm, .tc_drop_ppm = tenth_ppm},
         .packets = many,
         .v6 = true,
         .interval = Hook::tc},
        {.name = "xdp_drop_all", .policy = P{.xdp_drop_ppm = all_ppm}, .packets = few},
        {.name = "tc_drop_all", .policy = P{.tc_drop_ppm = all_ppm}, .packets = few, .v6 = true},
        {.name = "block_source_v4", .policy = P{.blocked_source = from_v4}, .packets = few},
        {.name = "block_destination_v4", .policy = P{.blocked_destination = to_v4}, .packets = few},
        {.name = "block_source_v6",
         .policy = P{.blocked_source = from_v6},
         .packets = few,
         .v6 = true},
        {.name = "block_destination_v6",
         .policy = P{.blocked_destination = to_v6},
         .packets = few,
         .v6 = true},
        {.name = "corrupt_detected", .policy = P{.tc_corrupt_ppm = tenth_ppm}, .packets = many},
        {.name = "corrupt_undetected",
         .policy = P{.tc_corrupt_ppm = tenth_ppm, .corrupt_mode = ebpf::CorruptMode::undetected},
         .packets = many,
         .v6 = true},
        {.name = "healed", .packets = few}};
    for (std::size_t i = 0; i < phases.size(); ++i) {
        ebpf::FaultPolicy& policy = phases[i].policy;
        policy.seed = seed + i;
        policy.xdp_link = promtact_link(1, 2);
        policy.tc_link = promtact_link(2, 1);
        policy.match_protocol = udp;
    }
    return phases;
}

/// What all phases together gave.
struct Totals {
    std::uint64_t phases = 0;
    std::uint64_t sent = 0;
    std::uint64_t other_sent = 0;
    std::uint64_t other_received = 0;
    Histogram write_latency;
    std::vector<Measurement> measurements{};
};

void record(const Phase& phase, const Observation& observed, Totals& totals) {
    ++totals.phases;
    totals.sent += observed.sent;
    totals.other_sent += observed.other_sent;
    totals.other_received += observed.other_received;
    const std::string name = phase.name;
    totals.measurements.push_back(
        {name + "_delivered", "packets", "received of sent, counted at both ends",
         Ratio{observed.arrivals.size(), observed.sent}});
    const std::uint64_t lost =
        observed.counters[PROMTACT_COUNT_XDP_LOST] + observed.counters[PROMTACT_COUNT_TC_LOST];
    if (lost != 0) {
        totals.measurements.push_back(
            {name + "_lost", "packets", "of sent, counted by the programs",
             Ratio{lost, observed.sent}});
    }
    if (observed.counters[PROMTACT_COUNT_TC_CORRUPTED] != 0) {
        totals.measurements.push_back(
            {name + "_damaged", "packets", "of sent, counted by the program",
             Ratio{observed.counters[PROMTACT_COUNT_TC_CORRUPTED], observed.sent}});
    }
}

/// The reason why a phase did not go as predicted; empty when it did.
Result<std::string> run_phase(
    const GateContext& context, Testbed& testbed, ebpf::FaultProgram& program, const Phase& phase,
    std::uint32_t number, Totals& totals) {
    ebpf::FaultPolicy written = phase.policy;
    if (context.sabotaged() && phase.name == sabotaged_phase) written.xdp_drop_ppm = 0;
    const auto start = Clock::now();
    PROMTACT_TRY(program.write(written));
    totals.write_latency.record(static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count()));
    // After the policy: under the one before, what the kernel itself sends could take an index.
    PROMTACT_TRY(program.reset());
    context.step(std::string{phase.name} + ": policy in force");
    PROMTACT_TRY_ASSIGN(const Observation observed, run_flow(testbed, program, phase, number));
    record(phase, observed, totals);
    context.step(std::string{phase.name} + ": counted");
    return judge(phase, predict(phase, number), observed);
}

GateReport report_of(std::string finding, std::uint64_t many, Totals totals) {
    GateReport report;
    report.verdict = finding.empty() ? Verdict::pass : Verdict::fail;
    report.reason = std::move(finding);
    report.summary = std::to_string(totals.phases) + " phases, " + std::to_string(totals.sent) +
                     " packets, each with the predicted fate; other link " +
                     std::to_string(totals.other_received) + " of " +
                     std::to_string(totals.other_sent);
    if (report.verdict == Verdict::fail) report.summary = report.reason;
    const std::optional<Interval> interval = ten_percent_interval(many);
    PROMTACT_ASSERT(interval.has_value());
    report.parameters = {{"packets_per_rate_phase", many},       {"packets_per_other_phase", few},
                         {"rate_ppm", std::uint64_t{tenth_ppm}}, {"alpha", std::string{"1e-6"}},
                         {"interval_low", interval->low},        {"interval_high", interval->high}};
    report.measurements = std::move(totals.measurements);
    report.measurements.push_back(
        {"policy_write_latency", "ns", "until no packet is decided by the old policy",
         std::move(totals.write_latency)});
    report.measurements.push_back(
        {"other_link_delivered", "packets", "received of sent on the link without programs",
         Ratio{totals.other_received, totals.other_sent == 0 ? 1 : totals.other_sent}});
    return report;
}

Result<GateReport> run(const GateContext& context) {
    const std::uint64_t many = context.quick() ? 5'000 : 20'000;
    PROMTACT_TRY_ASSIGN(const std::vector<Phase> phases, all_phases(context.options().seed, many));
    PROMTACT_TRY_ASSIGN(Testbed testbed, Testbed::build());
    context.step("links made");
    PROMTACT_TRY_ASSIGN(ebpf::FaultProgram program, ebpf::FaultProgram::load());
    context.step("programs loaded");
    PROMTACT_TRY_ASSIGN(
        const auto receiving,
        ebpf::AttachTarget::verify(testbed.receiver.fd(), testbed.faulty.right().index()));
    PROMTACT_TRY_ASSIGN(
        const auto sending,
        ebpf::AttachTarget::verify(testbed.sender.fd(), testbed.faulty.left().index()));
    PROMTACT_TRY(program.attach_xdp(receiving, ebpf::XdpMode::native));
    context.step("XDP attached");
    PROMTACT_TRY(program.attach_tc(sending));
    context.step("TC attached");

    Totals totals;
    for (std::size_t i = 0; i < phases.size(); ++i) {
        PROMTACT_TRY_ASSIGN(
            std::string finding,
            run_phase(context, testbed, program, phases[i], static_cast<std::uint32_t>(i), totals));
        if (!finding.empty()) return report_of(std::move(finding), many, std::move(totals));
    }
    const std::string mechanism{to_string(program.tc_mechanism())};
    PROMTACT_TRY(program.detach());
    context.step("detached");
    GateReport report = report_of({}, many, std::move(totals));
    report.parameters.push_back({"tc_mechanism", mechanism});
    report.parameters.push_back({"xdp_mode", std::string{to_string(ebpf::XdpMode::native)}});
    return report;
}

} // namespace
} // namespace promtact::gates::packet_fault

namespace promtact::gates {

const GateInfo packet_fault_info{
    .id = "packet_fault",
    .revision = 2,
    .tier = Tier::network,
    .gate_class = GateClass::quick,
    .title = "XDP and TC faults hit exactly the packets they should",
    .qualifies = packet_fault::qualified,
    .requires_gates = packet_fault::required,
    .needs = packet_fault::needs,
    .budget = std::chrono::seconds{20},
    .establishes =
        "ten percent configured loss at XDP and at TC lies inside the binomial interval "
        "and hits exactly the packets the decision function names; all means all; "
        "partitions hold for IPv4 and IPv6; damage is discarded by checksums or, when "
        "asked, delivered with one flipped bit; both hooks obey one policy with rates of "
        "their own; other links lose nothing; every packet is accounted for",
    .does_not_establish = "TCP behaviour under loss, packet rates, delay, native XDP on hardware",
    .control = "write_zero_instead_of_ten_percent",
    .control_breaks = "the policy of the XDP phase is written with rate 0",
    .remedy =
        "run bpf_load and netns_lifecycle; a kernel with CONFIG_VETH and CONFIG_NET_XGRESS or "
        "CONFIG_NET_CLS_BPF"};

Result<GateReport> run_packet_fault(const GateContext& context) {
    return packet_fault::run(context);
}

} // namespace promtact::gates
