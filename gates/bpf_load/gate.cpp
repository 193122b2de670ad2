// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Loads the fault programs through the verifier, sees that the kernel compiled them, that they
// share one policy map, that what is written into it is read back, that their decisions are the
// model's, and that unloading leaves no program.
#include "gate.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include <promtact/ebpf/fault_program.hpp>

namespace promtact::gates {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t decisions = 256; // per hook and round
constexpr std::uint32_t rate_ppm = 250'000;
constexpr std::chrono::milliseconds gone_within{2000};

constexpr std::array<std::string_view, 1> qualified{"ebpf"};
constexpr std::array needs{
    Need{Need::Kind::capability, "CAP_BPF", "run as root: loading programs needs it"},
    Need{Need::Kind::capability, "CAP_NET_ADMIN", "run as root: network programs need it"},
    Need{Need::Kind::capability, "CAP_SYS_ADMIN", "run as root: listing programs needs it"}};

/// An IPv4 UDP frame: Ethernet, 20 bytes IP from 192.0.2.1 to 192.0.2.2, 8 bytes UDP, 8 of payload.
constexpr std::array<std::uint8_t, 50> frame_bytes{
    0x02, 0x50, 0x4d, 0,    0, 2,  0x02, 0x50, 0x4d, 0,   0, 1, 0x08, 0x00, 0x45, 0, 0,
    36,   0,    1,    0,    0, 64, 17,   0xf6, 0xc6, 192, 0, 2, 1,    192,  0,    2, 2,
    0x04, 0xd2, 0x16, 0x2e, 0, 16, 0,    0,    1,    2,   3, 4, 5,    6,    7,    8};

/// What was found wrong, in words; empty when all is well.
using Finding = std::string;

struct Round {
    Histogram load_latency;
    Histogram write_latency;
    std::uint64_t decided = 0;
    ebpf::ProgramFacts xdp{};
    ebpf::ProgramFacts tc{};
};

std::uint64_t elapsed_ns(Clock::time_point since) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count());
}

Finding judge_facts(const ebpf::ProgramFacts& facts, std::uint32_t policy_map) {
    if (facts.translated_bytes == 0) return facts.name + " was not loaded";
    if (facts.jited_bytes == 0) return facts.name + " is interpreted: the JIT is off";
    if (!std::binary_search(facts.map_ids.begin(), facts.map_ids.end(), policy_map))
        return facts.name + " does not use the shared policy map";
    return {};
}

/// Both programs decide as the model does, packet by packet.
Result<Finding>
judge_decisions(ebpf::FaultProgram& program, const ebpf::FaultPolicy& policy, Round& round) {
    const auto frame = std::as_bytes(std::span{frame_bytes});
    for (std::uint64_t index = 0; index < decisions; ++index) {
        PROMTACT_TRY_ASSIGN(const ebpf::FrameVerdict xdp, program.run_xdp(frame));
        PROMTACT_TRY_ASSIGN(const ebpf::FrameVerdict tc, program.run_tc(frame));
        round.decided += 2;
        if (xdp.passed == ebpf::xdp_drops(policy, index)) {
            return Finding{"XDP decided otherwise than the model about packet "} +
                   std::to_string(index);
        }
        if (tc.passed == ebpf::tc_drops(policy, index)) {
            return Finding{"TC decided otherwise than the model about packet "} +
                   std::to_string(index);
        }
    }
    return Finding{};
}

Result<Finding> judge_policy(
    const GateContext& context, ebpf::FaultProgram& program, const ebpf::FaultPolicy& policy,
    Round& round) {
    const auto start = Clock::now();
    PROMTACT_TRY(program.write(policy));
    round.write_latency.record(elapsed_ns(start));
    context.step("policy written");
    PROMTACT_TRY_ASSIGN(const ebpf::FaultPolicy found, program.read());
    if (found != policy) return Finding{"the policy map reads back another policy"};
    PROMTACT_TRY_ASSIGN(Finding finding, judge_decisions(program, policy, round));
    context.step("decisions compared");
    return finding;
}

Result<Finding> judge_gone(std::array<std::uint32_t, 2> ids) {
    const auto start = Clock::now();
    for (;;) {
        PROMTACT_TRY_ASSIGN(const std::vector<std::uint32_t> alive, ebpf::our_programs());
        const bool gone = std::none_of(ids.begin(), ids.end(), [&](std::uint32_t id) {
            return std::binary_search(alive.begin(), alive.end(), id);
        });
        if (gone) return Finding{};
        if (Clock::now() - start > gone_within)
            return Finding{"a program is still loaded after its last descriptor was closed"};
        std::this_thread::sleep_for(1ms);
    }
}

Result<Finding> load_once(const GateContext& context, std::uint64_t number, Round& round) {
    context.step("load");
    std::array<std::uint32_t, 2> ids{};
    {
        const auto start = Clock::now();
        Result<ebpf::FaultProgram> program =
            ebpf::FaultProgram::load({.with_unsafe_program = context.sabotaged()});
        // The verifier's no is this gate's answer no; a missing right is not an answer.
        if (!program && program.error().code == Errc::refused) return program.error().context;
        PROMTACT_TRY_ASSIGN(ebpf::FaultProgram loaded, std::move(program));
        round.load_latency.record(elapsed_ns(start));
        context.step("loaded");
        round.xdp = loaded.xdp_facts();
        round.tc = loaded.tc_facts();
        ids = {round.xdp.id, round.tc.id};
        for (const ebpf::ProgramFacts& facts : {round.xdp, round.tc}) {
            if (Finding finding = judge_facts(facts, loaded.policy_map_id()); !finding.empty())
                return finding;
        }
        ebpf::FaultPolicy policy;
        policy.seed = context.options().seed + number;
        policy.xdp_link = promtact_link(1, 2);
        policy.tc_link = promtact_link(2, 1);
        policy.xdp_drop_ppm = rate_ppm;
        policy.tc_drop_ppm = rate_ppm;
        PROMTACT_TRY_ASSIGN(Finding finding, judge_policy(context, loaded, policy, round));
        if (!finding.empty()) return finding;
    }
    context.step("unloaded");
    return judge_gone(ids);
}

GateReport report_of(Finding finding, std::uint64_t rounds, Round round) {
    GateReport report;
    report.verdict = finding.empty() ? Verdict::pass : Verdict::fail;
    report.reason = std::move(finding);
    report.summary = "XDP and TC programs verified and compiled, " + std::to_string(round.decided) +
                     " decisions equal to the model";
    if (report.verdict == Verdict::fail) report.summary = report.reason;
    report.parameters = {
        {"rounds", rounds},
        {"decisions_per_hook", decisions},
        {"drop_ppm", std::uint64_t{rate_ppm}}};
    report.measurements = {
        {"load_latency", "ns", "open, verify, compile and create maps",
         std::move(round.load_latency)},
        {"policy_write_latency", "ns", "until no packet is decided by the old policy",
         std::move(round.write_latency)},
        {"xdp_jited", "bytes", "bpf_prog_info", Scalar{round.xdp.jited_bytes}},
        {"tc_jited", "bytes", "bpf_prog_info", Scalar{round.tc.jited_bytes}},
        {"xdp_verified_instructions", "count", "bpf_prog_info",
         Scalar{round.xdp.verified_instructions}},
        {"tc_verified_instructions", "count", "bpf_prog_info",
         Scalar{round.tc.verified_instructions}},
        {"decisions_compared", "count", "BPF_PROG_TEST_RUN against the C++ model",
         Scalar{round.decided}}};
    return report;
}

} // namespace

const GateInfo bpf_load_info{
    .id = "bpf_load",
    .revision = 1,
    .tier = Tier::network,
    .gate_class = GateClass::quick,
    .title = "the kernel verifies, compiles and obeys the fault programs",
    .qualifies = qualified,
    .requires_gates = {},
    .needs = needs,
    .budget = 20s,
    .establishes =
        "this kernel's verifier accepts the XDP and the TC fault program, compiles both, "
        "lets them share one policy map, and their decisions equal the model's packet by "
        "packet; unloading leaves no program",
    .does_not_establish = "that a program can be attached to a link, and what it does to traffic",
    .control = "load_an_unsafe_program",
    .control_breaks =
        "the object also holds a program that reads behind the end of a packet, which "
        "the verifier must refuse",
    .remedy = "sysctl net.core.bpf_jit_enable=1; a kernel with CONFIG_BPF_SYSCALL, CONFIG_BPF_JIT "
              "and CONFIG_NET_CLS_BPF, Linux 5.12 or newer"};

Result<GateReport> run_bpf_load(const GateContext& context) {
    const std::uint64_t rounds = context.quick() ? 5 : 50;
    Round round;
    for (std::uint64_t number = 0; number < rounds; ++number) {
        PROMTACT_TRY_ASSIGN(Finding finding, load_once(context, number, round));
        if (!finding.empty()) return report_of(std::move(finding), number, std::move(round));
    }
    return report_of({}, rounds, std::move(round));
}

} // namespace promtact::gates
