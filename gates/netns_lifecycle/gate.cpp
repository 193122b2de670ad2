// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Makes namespaces and links, uses them, takes them away in both possible ways, and looks from the
// far end of the link and at the host whether they are gone.
#include "gate.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <thread>

#include <promtact/base/error_text.hpp>
#include <promtact/netns/leak_audit.hpp>
#include <promtact/netns/link.hpp>
#include <promtact/netns/udp_socket.hpp>

namespace promtact::gates {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t datagrams = 100; // per family and direction
constexpr std::chrono::milliseconds arrival_within{2000};
constexpr std::chrono::milliseconds gone_within{2000};
constexpr auto inner_name = netns::InterfaceName::literal("promtact-in");
constexpr auto witness_name = netns::InterfaceName::literal("promtact-far");

constexpr std::array<std::string_view, 1> qualified{"netns"};
constexpr std::array needs{
    Need{Need::Kind::capability, "CAP_SYS_ADMIN", "run as root: namespaces need it"},
    Need{Need::Kind::capability, "CAP_NET_ADMIN", "run as root: links need it"}};

std::uint64_t elapsed_ns(Clock::time_point since) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count());
}

struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};

struct Latencies {
    Histogram make_namespace;
    Histogram make_pair;
    Histogram dismantle;
};

/// A fault found, in words; empty when all is well.
using Finding = std::string;

/// One namespace under test and the one that watches it from the other end of a veth pair.
struct Stage {
    netns::Namespace inner;
    netns::Namespace witness;
    netns::VethPair pair;
};

Result<netns::TestAddress> address(bool v6, bool inner) {
    if (v6) return netns::TestAddress::parse(inner ? "2001:db8::1/64" : "2001:db8::2/64");
    return netns::TestAddress::parse(inner ? "192.0.2.1/30" : "192.0.2.2/30");
}

Result<Stage> make_stage(const GateContext& context, Latencies& latencies) {
    const auto start = Clock::now();
    PROMTACT_TRY_ASSIGN(netns::Namespace inner, netns::Namespace::create());
    latencies.make_namespace.record(elapsed_ns(start));
    context.step("namespace made");
    PROMTACT_TRY_ASSIGN(netns::Namespace witness, netns::Namespace::create());
    PROMTACT_TRY_ASSIGN(const auto inner_v4, address(false, true));
    PROMTACT_TRY_ASSIGN(const auto inner_v6, address(true, true));
    PROMTACT_TRY_ASSIGN(const auto witness_v4, address(false, false));
    PROMTACT_TRY_ASSIGN(const auto witness_v6, address(true, false));
    const auto pair_start = Clock::now();
    PROMTACT_TRY_ASSIGN(
        netns::VethPair pair, netns::VethPair::create(
                                  {.where = inner,
                                   .name = inner_name,
                                   .mac = netns::fixed_mac(1),
                                   .addresses = {inner_v4, inner_v6}},
                                  {.where = witness,
                                   .name = witness_name,
                                   .mac = netns::fixed_mac(2),
                                   .addresses = {witness_v4, witness_v6}}));
    latencies.make_pair.record(elapsed_ns(pair_start));
    context.step("link made");
    return Stage{std::move(inner), std::move(witness), std::move(pair)};
}

/// Sends numbered datagrams one way, receiving each before the next: nothing may be missing.
Result<void> send_one_way(
    const netns::Namespace& from, const netns::TestAddress& source, const netns::Namespace& to,
    const netns::TestAddress& target, Counts& counts) {
    PROMTACT_TRY_ASSIGN(netns::UdpSocket receiver, netns::UdpSocket::bind(to, target, 0));
    PROMTACT_TRY_ASSIGN(netns::UdpSocket sender, netns::UdpSocket::bind(from, source, 0));
    PROMTACT_TRY(sender.connect(target, receiver.port()));
    for (std::uint64_t number = 0; number < datagrams; ++number) {
        std::array<std::byte, sizeof number> out{};
        std::array<std::byte, sizeof number + 1> in{};
        std::memcpy(out.data(), &number, sizeof number);
        PROMTACT_TRY(sender.send(out));
        ++counts.sent;
        PROMTACT_TRY_ASSIGN(const auto size, receiver.receive(in, arrival_within));
        const bool same = size == out.size() && std::memcmp(in.data(), out.data(), *size) == 0;
        if (!same) return {};
        ++counts.received;
    }
    return {};
}

Result<Finding> use_stage(Stage& stage, Counts& counts) {
    PROMTACT_TRY_ASSIGN(const netns::LinkState inner, stage.pair.left().state());
    PROMTACT_TRY_ASSIGN(const netns::LinkState far, stage.pair.right().state());
    for (const netns::LinkState& state : {inner, far}) {
        if (!state.up || state.alias != netns::run_alias() || state.group != netns::link_group)
            return Finding{"a link end is not up or does not carry our mark"};
    }
    for (const bool v6 : {false, true}) {
        PROMTACT_TRY_ASSIGN(const auto here, address(v6, true));
        PROMTACT_TRY_ASSIGN(const auto there, address(v6, false));
        PROMTACT_TRY(send_one_way(stage.inner, here, stage.witness, there, counts));
        PROMTACT_TRY(send_one_way(stage.witness, there, stage.inner, here, counts));
    }
    if (counts.sent != counts.received) return Finding{"datagrams were lost on an untouched link"};
    PROMTACT_TRY_ASSIGN(const netns::LinkState used, stage.pair.right().state());
    const std::uint64_t least = 2 * datagrams;
    if (used.counters.rx_packets < least || used.counters.tx_packets < least)
        return Finding{"the link's own counters show fewer packets than were exchanged"};
    return Finding{};
}

/// Waits until the witness has no link of ours any more: its far end went, so ours did too.
Result<Finding> see_it_gone(const netns::Namespace& witness, Latencies& latencies) {
    const auto start = Clock::now();
    for (;;) {
        PROMTACT_TRY_ASSIGN(
            const netns::Inventory left, netns::take_inventory(witness, netns::Part::links));
        if (left.text().find(witness_name.view()) == std::string::npos) break;
        if (Clock::now() - start > gone_within) {
            return Finding{
                "the link of a dismantled namespace was still there after " +
                std::to_string(gone_within.count()) + " ms"};
        }
        std::this_thread::sleep_for(1ms);
    }
    latencies.dismantle.record(elapsed_ns(start));
    return Finding{};
}

/// One life. A namespace handed out through survivor outlives it (the sabotage).
Result<Finding> live_once(
    const GateContext& context, bool by_namespace, bool leave_behind, Latencies& latencies,
    Counts& counts, std::optional<netns::Namespace>& survivor) {
    PROMTACT_TRY_ASSIGN(const netns::NamespaceId home, netns::current_namespace());
    PROMTACT_TRY_ASSIGN(Stage stage, make_stage(context, latencies));
    PROMTACT_TRY_ASSIGN(Finding finding, use_stage(stage, counts));
    if (!finding.empty()) return finding;
    context.step("link used");
    PROMTACT_TRY_ASSIGN(const netns::NamespaceId now, netns::current_namespace());
    if (now != home) return Finding{"the calling thread changed its namespace"};
    if (leave_behind) survivor.emplace(std::move(stage.inner));
    netns::Namespace witness = std::move(stage.witness);
    if (by_namespace) {
        stage.pair.leave();
    } else {
        PROMTACT_TRY(stage.pair.remove());
    }
    {
        const Stage ending = std::move(stage); // sockets and descriptors of the namespace close
    }
    context.step("namespace left");
    PROMTACT_TRY_ASSIGN(finding, see_it_gone(witness, latencies));
    context.step("namespace gone");
    return finding;
}

GateReport
report_of(Finding finding, std::uint64_t lives, const Counts& counts, Latencies latencies) {
    GateReport report;
    report.verdict = finding.empty() ? Verdict::pass : Verdict::fail;
    report.reason = std::move(finding);
    report.summary = std::to_string(lives) + " namespaces made, used and gone; " +
                     std::to_string(counts.received) + " of " + std::to_string(counts.sent) +
                     " datagrams; host unchanged";
    if (report.verdict == Verdict::fail) report.summary = report.reason;
    report.parameters = {
        {"lives", lives},
        {"datagrams_per_family_and_direction", datagrams},
        {"gone_within_ms", static_cast<std::uint64_t>(gone_within.count())}};
    report.measurements = {
        {"namespace_create_latency", "ns", "thread, unshare, descriptor",
         std::move(latencies.make_namespace)},
        {"link_create_latency", "ns", "veth pair with both ends placed, addressed and up",
         std::move(latencies.make_pair)},
        {"dismantle_latency", "ns", "from giving up until the far end of the link was gone",
         std::move(latencies.dismantle)},
        {"datagrams_sent", "packets", "counted by the sender", Scalar{counts.sent}},
        {"datagrams_received", "packets", "counted by the receiver", Scalar{counts.received}}};
    return report;
}

} // namespace

const GateInfo netns_lifecycle_info{
    .id = "netns_lifecycle",
    .revision = 2,
    .tier = Tier::network,
    .gate_class = GateClass::quick,
    .title = "network namespaces come, carry traffic and go without a trace",
    .qualifies = qualified,
    .requires_gates = {},
    .needs = needs,
    .budget = 20s,
    .establishes = "a namespace with a veth pair can be made, used over IPv4 and IPv6 and taken "
                   "away by removing the link or by closing the namespace, within two seconds, "
                   "leaving links, addresses, routes, qdiscs and programs of the host as they were",
    .does_not_establish = "throughput, behaviour with many namespaces, named namespaces",
    .control = "leave_one_namespace",
    .control_breaks = "the last namespace is still alive when everything is expected to be gone",
    .remedy =
        "look for `unregister_netdevice` in the kernel log; a process may hold the namespace"};

Result<GateReport> run_netns_lifecycle(const GateContext& context) {
    const std::uint64_t lives = context.quick() ? 6 : 60;
    PROMTACT_TRY_ASSIGN(const netns::Inventory before, netns::take_inventory(netns::network_parts));
    context.step("inventory before");
    Latencies latencies;
    Counts counts;
    std::optional<netns::Namespace> survivor;
    for (std::uint64_t life = 0; life < lives; ++life) {
        const bool leave_behind = context.sabotaged() && life + 1 == lives;
        PROMTACT_TRY_ASSIGN(
            Finding finding,
            live_once(context, life % 2 == 1, leave_behind, latencies, counts, survivor));
        if (!finding.empty())
            return report_of(std::move(finding), life, counts, std::move(latencies));
    }
    PROMTACT_TRY_ASSIGN(
        const netns::InventoryDifference left,
        netns::wait_until_equal(before, netns::network_parts, gone_within));
    context.step("inventory after");
    Finding finding;
    if (!left.empty()) finding = "left behind or changed on the host: " + left.text();
    return report_of(std::move(finding), lives, counts, std::move(latencies));
}

} // namespace promtact::gates
