// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Delays one link by netem and sees the round trip move by that much, on that link and no other.
#include "gate.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include <promtact/netns/link.hpp>
#include <promtact/netns/shaper.hpp>
#include <promtact/netns/udp_socket.hpp>

#include "delay_internal.hpp"

namespace promtact::gates::link_delay {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::array<std::chrono::milliseconds, 2> delays{5ms, 25ms};
constexpr std::chrono::milliseconds probe_timeout{2000};

constexpr std::array<std::string_view, 1> qualified{"netns"};
constexpr std::array<std::string_view, 1> required{"netns_lifecycle"};
constexpr std::array needs{
    Need{Need::Kind::capability, "CAP_SYS_ADMIN", "run as root: namespaces need it"},
    Need{Need::Kind::capability, "CAP_NET_ADMIN", "run as root: links need it"},
    Need{
        Need::Kind::kconfig, "CONFIG_NET_SCH_NETEM",
        "a kernel with sch_netem; Debian's has it as a module"}};

/// Probes go out, answers come back; both ends are ours and driven by one thread.
struct EchoLane {
    netns::UdpSocket near;
    netns::UdpSocket far;
};

struct Testbed {
    netns::Namespace near;
    netns::Namespace far;
    netns::VethPair delayed;
    netns::VethPair beside;
    EchoLane delayed_lane;
    EchoLane beside_lane;
};

Result<netns::VethPair> make_pair(
    const netns::Namespace& near, netns::InterfaceName near_name, const char* near_address,
    const netns::Namespace& far, netns::InterfaceName far_name, const char* far_address,
    std::uint32_t mac) {
    PROMTACT_TRY_ASSIGN(const auto left, netns::TestAddress::parse(near_address));
    PROMTACT_TRY_ASSIGN(const auto right, netns::TestAddress::parse(far_address));
    return netns::VethPair::create(
        {.where = near, .name = near_name, .mac = netns::fixed_mac(mac), .addresses = {left}},
        {.where = far, .name = far_name, .mac = netns::fixed_mac(mac + 1), .addresses = {right}});
}

Result<EchoLane> make_lane(
    const netns::Namespace& near, const char* near_text, const netns::Namespace& far,
    const char* far_text) {
    PROMTACT_TRY_ASSIGN(const auto near_address, netns::TestAddress::parse(near_text));
    PROMTACT_TRY_ASSIGN(const auto far_address, netns::TestAddress::parse(far_text));
    PROMTACT_TRY_ASSIGN(netns::UdpSocket near_end, netns::UdpSocket::bind(near, near_address, 0));
    PROMTACT_TRY_ASSIGN(netns::UdpSocket far_end, netns::UdpSocket::bind(far, far_address, 0));
    PROMTACT_TRY(near_end.connect(far_address, far_end.port()));
    PROMTACT_TRY(far_end.connect(near_address, near_end.port()));
    return EchoLane{std::move(near_end), std::move(far_end)};
}

Result<Testbed> build() {
    PROMTACT_TRY_ASSIGN(netns::Namespace near, netns::Namespace::create());
    PROMTACT_TRY_ASSIGN(netns::Namespace far, netns::Namespace::create());
    PROMTACT_TRY_ASSIGN(
        netns::VethPair delayed,
        make_pair(
            near, netns::InterfaceName::literal("promtact-near"), "192.0.2.1/30", far,
            netns::InterfaceName::literal("promtact-far"), "192.0.2.2/30", 1));
    PROMTACT_TRY_ASSIGN(
        netns::VethPair beside,
        make_pair(
            near, netns::InterfaceName::literal("promtact-near2"), "198.51.100.1/30", far,
            netns::InterfaceName::literal("promtact-far2"), "198.51.100.2/30", 3));
    PROMTACT_TRY_ASSIGN(EchoLane first, make_lane(near, "192.0.2.1/30", far, "192.0.2.2/30"));
    PROMTACT_TRY_ASSIGN(
        EchoLane second, make_lane(near, "198.51.100.1/30", far, "198.51.100.2/30"));
    return Testbed{std::move(near),   std::move(far),   std::move(delayed),
                   std::move(beside), std::move(first), std::move(second)};
}

/// One probe and its answer. Only datagrams with this number count.
Result<bool> round_trip(EchoLane& lane, std::uint64_t number) {
    std::array<std::byte, sizeof number> probe{};
    std::array<std::byte, sizeof number> seen{};
    std::memcpy(probe.data(), &number, sizeof number);
    PROMTACT_TRY(lane.near.send(probe));
    PROMTACT_TRY_ASSIGN(const auto there, lane.far.receive(seen, probe_timeout));
    if (there != probe.size() || seen != probe) return false;
    PROMTACT_TRY(lane.far.send(seen));
    PROMTACT_TRY_ASSIGN(const auto back, lane.near.receive(seen, probe_timeout));
    return back == probe.size() && seen == probe;
}

Result<void>
measure(const GateContext& context, EchoLane& lane, std::uint64_t probes, RoundTrips& trips) {
    for (std::uint64_t i = 0; i < probes; ++i) {
        const auto start = Clock::now();
        PROMTACT_TRY_ASSIGN(const bool answered, round_trip(lane, trips.sent));
        ++trips.sent;
        if (answered) {
            trips.latency_ns.record(static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start)
                    .count()));
        } else {
            ++trips.lost;
        }
        if (i % 10 == 0) context.step("probe");
    }
    return {};
}

Result<Measured> measure_delay(
    const GateContext& context, Testbed& testbed, std::chrono::milliseconds delay,
    std::uint64_t probes) {
    Measured measured;
    measured.delay_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds{delay}.count());
    PROMTACT_TRY(measure(context, testbed.delayed_lane, probes, measured.before));
    std::optional<netns::Shaper> shaper;
    if (!context.sabotaged()) {
        PROMTACT_TRY_ASSIGN(
            netns::Shaper installed,
            netns::Shaper::install(
                testbed.delayed.left(),
                {.delay = delay, .jitter = 0ns, .loss_ppm = 0, .limit_packets = 10'000}));
        shaper.emplace(std::move(installed));
    }
    context.step("delay installed");
    PROMTACT_TRY(measure(context, testbed.delayed_lane, probes, measured.delayed));
    PROMTACT_TRY(measure(context, testbed.beside_lane, probes, measured.beside));
    if (shaper) PROMTACT_TRY(shaper->remove());
    context.step("delay removed");
    PROMTACT_TRY(measure(context, testbed.delayed_lane, probes, measured.after));
    return measured;
}

void add(Measured measured, std::chrono::milliseconds delay, GateReport& report) {
    const std::string name = "round_trip_" + std::to_string(delay.count()) + "ms";
    const std::string method = "one probe at a time, send to answer";
    report.measurements.push_back(
        {name + "_before", "ns", method, std::move(measured.before.latency_ns)});
    report.measurements.push_back(
        {name + "_delayed", "ns", method, std::move(measured.delayed.latency_ns)});
    report.measurements.push_back(
        {name + "_other_link", "ns", method, std::move(measured.beside.latency_ns)});
    report.measurements.push_back(
        {name + "_after", "ns", method, std::move(measured.after.latency_ns)});
}

Result<GateReport> run(const GateContext& context) {
    const std::uint64_t probes = context.quick() ? 30 : 300;
    PROMTACT_TRY_ASSIGN(Testbed testbed, build());
    context.step("links made");
    // Asked first, so that a kernel without netem answers `unsupported` to body and control alike.
    PROMTACT_TRY(netns::Shaper::probe(testbed.delayed.left()));
    context.step("netem probed");
    GateReport report;
    report.verdict = Verdict::pass;
    for (const std::chrono::milliseconds delay : delays) {
        PROMTACT_TRY_ASSIGN(Measured measured, measure_delay(context, testbed, delay, probes));
        std::string finding = judge(measured);
        add(std::move(measured), delay, report);
        if (finding.empty()) continue;
        report.verdict = Verdict::fail;
        report.reason = std::to_string(delay.count()) + " ms: " + finding;
        report.summary = report.reason;
        break;
    }
    if (report.verdict == Verdict::pass)
        report.summary = "round trips moved by the configured delay, the other link did not";
    report.parameters = {
        {"probes", probes}, {"tolerance_ns", tolerance_ns}, {"backend", std::string{"netem"}}};
    return report;
}

} // namespace
} // namespace promtact::gates::link_delay

namespace promtact::gates {

const GateInfo link_delay_info{
    .id = "link_delay",
    .revision = 2,
    .tier = Tier::network,
    .gate_class = GateClass::quick,
    .title = "a link can be delayed by netem, and only that link",
    .qualifies = link_delay::qualified,
    .requires_gates = link_delay::required,
    .needs = link_delay::needs,
    .budget = std::chrono::seconds{20},
    .establishes = "round trips grow by the configured delay within tolerance (the fastest tenth), "
                   "never by less, without loss, on the chosen link only, and go back afterwards",
    .does_not_establish = "accuracy of the tail, jitter, loss and rate limits of netem",
    .control = "install_no_delay",
    .control_breaks = "the queueing discipline is never installed",
    .remedy = "repeat on a quiet host; timers of a busy one are late"};

Result<GateReport> run_link_delay(const GateContext& context) {
    return link_delay::run(context);
}

} // namespace promtact::gates
