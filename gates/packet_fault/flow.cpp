// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <chrono>
#include <cstring>

#include "flow_internal.hpp"

namespace promtact::gates::packet_fault {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// A burst is sent only when the one before has been seen by the programs, so that no queue of the
// kernel can overflow (the smallest, veth's ring, holds 256): every loss is a decision.
constexpr std::uint64_t burst = 64;
constexpr std::uint64_t other_every = 8;
constexpr std::chrono::milliseconds burst_deadline{2000};
constexpr std::chrono::milliseconds last_wait{20}; // for what must not come

constexpr const char* sender_v4 = "192.0.2.1/30";
constexpr const char* receiver_v4 = "192.0.2.2/30";
constexpr const char* sender_v6 = "2001:db8::1/64";
constexpr const char* receiver_v6 = "2001:db8::2/64";
constexpr const char* sender_other = "198.51.100.1/30";
constexpr const char* receiver_other = "198.51.100.2/30";

struct PairSpec {
    netns::InterfaceName left;
    netns::InterfaceName right;
    std::uint32_t mac = 0;
    std::vector<const char*> left_addresses;
    std::vector<const char*> right_addresses;
};

Result<std::vector<netns::TestAddress>> parse_all(const std::vector<const char*>& texts) {
    std::vector<netns::TestAddress> out;
    for (const char* text : texts) {
        PROMTACT_TRY_ASSIGN(const netns::TestAddress address, netns::TestAddress::parse(text));
        out.push_back(address);
    }
    return out;
}

Result<netns::VethPair>
make_pair(const netns::Namespace& left, const netns::Namespace& right, const PairSpec& spec) {
    PROMTACT_TRY_ASSIGN(auto left_addresses, parse_all(spec.left_addresses));
    PROMTACT_TRY_ASSIGN(auto right_addresses, parse_all(spec.right_addresses));
    return netns::VethPair::create(
        {.where = left,
         .name = spec.left,
         .mac = netns::fixed_mac(spec.mac),
         .addresses = std::move(left_addresses)},
        {.where = right,
         .name = spec.right,
         .mac = netns::fixed_mac(spec.mac + 1),
         .addresses = std::move(right_addresses)});
}

Result<Lane> make_lane(
    const netns::Namespace& sender, const char* from, const netns::Namespace& receiver,
    const char* to) {
    PROMTACT_TRY_ASSIGN(const netns::TestAddress source, netns::TestAddress::parse(from));
    PROMTACT_TRY_ASSIGN(const netns::TestAddress target, netns::TestAddress::parse(to));
    PROMTACT_TRY_ASSIGN(netns::UdpSocket in, netns::UdpSocket::bind(receiver, target, 0));
    PROMTACT_TRY_ASSIGN(netns::UdpSocket out, netns::UdpSocket::bind(sender, source, 0));
    PROMTACT_TRY(out.connect(target, in.port()));
    return Lane{std::move(out), std::move(in)};
}

/// Takes everything that has arrived, waiting at most so long for each datagram.
Result<void>
drain(netns::UdpSocket& socket, std::chrono::milliseconds wait, Observation& observation) {
    for (;;) {
        std::array<std::byte, payload_bytes + 1> buffer{};
        PROMTACT_TRY_ASSIGN(const auto size, socket.receive(buffer, wait));
        if (!size) return {};
        Payload payload{};
        std::memcpy(payload.data(), buffer.data(), payload.size());
        if (*size != payload.size()) ++observation.wrong_sizes;
        observation.arrivals.push_back(payload);
    }
}

Result<void> drain_other(netns::UdpSocket& socket, Observation& observation) {
    for (;;) {
        Payload buffer{};
        PROMTACT_TRY_ASSIGN(const auto size, socket.receive(buffer, 0ms));
        if (!size) return {};
        ++observation.other_received;
    }
}

/// Whether every datagram handed to the kernel so far has met its fate.
bool settled(const Observation& observation) {
    const ebpf::FaultCounters& count = observation.counters;
    const std::uint64_t tc = count[PROMTACT_COUNT_TC_SEEN] - count[PROMTACT_COUNT_TC_OTHER];
    const std::uint64_t xdp = count[PROMTACT_COUNT_XDP_SEEN] - count[PROMTACT_COUNT_XDP_OTHER];
    return tc >= observation.sent && xdp + count[PROMTACT_COUNT_TC_LOST] >= observation.sent &&
           observation.other_received >= observation.other_sent;
}

Result<void>
settle(Testbed& testbed, Lane& lane, ebpf::FaultProgram& program, Observation& observation) {
    const auto deadline = Clock::now() + burst_deadline;
    for (;;) {
        PROMTACT_TRY(drain(lane.in, 0ms, observation));
        PROMTACT_TRY(drain_other(testbed.other.in, observation));
        PROMTACT_TRY_ASSIGN(observation.counters, program.counters());
        if (settled(observation) || Clock::now() > deadline) return {};
    }
}

/// What the programs let through is still on its way up the receiver's stack: waits until each
/// packet is either received or counted as damaged, then for anything that should not come at all.
Result<void> receive_the_rest(
    Testbed& testbed, Lane& lane, const netns::UdpCounters& before, Observation& observation) {
    const ebpf::FaultCounters& count = observation.counters;
    const std::uint64_t passed = count[PROMTACT_COUNT_XDP_PASSED] - count[PROMTACT_COUNT_XDP_OTHER];
    const auto deadline = Clock::now() + burst_deadline;
    for (;;) {
        PROMTACT_TRY(drain(lane.in, last_wait, observation));
        PROMTACT_TRY_ASSIGN(const netns::UdpCounters now, netns::udp_counters(testbed.receiver));
        observation.kernel.checksum_errors = now.checksum_errors - before.checksum_errors;
        observation.kernel.in_datagrams = now.in_datagrams - before.in_datagrams;
        observation.kernel.receive_buffer_errors =
            now.receive_buffer_errors - before.receive_buffer_errors;
        const std::uint64_t met = observation.arrivals.size() + observation.kernel.checksum_errors;
        if (met >= passed || Clock::now() > deadline) break;
    }
    return drain_other(testbed.other.in, observation);
}

std::string
disagree(const Phase& phase, const char* what, std::uint64_t found, std::uint64_t wanted) {
    return std::string{phase.name} + ": " + what + " is " + std::to_string(found) + ", must be " +
           std::to_string(wanted) + " of " + std::to_string(phase.packets) + " packets";
}

} // namespace

Payload payload_of(std::uint32_t phase, std::uint64_t number) noexcept {
    Payload payload{};
    const std::uint64_t words[4] = {
        number, phase, promtact_mix64(number + 1), promtact_mix64(number ^ phase)};
    static_assert(sizeof words == payload_bytes);
    std::memcpy(payload.data(), words, sizeof words);
    return payload;
}

Result<Testbed> Testbed::build() {
    PROMTACT_TRY_ASSIGN(netns::Namespace sender, netns::Namespace::create());
    PROMTACT_TRY_ASSIGN(netns::Namespace receiver, netns::Namespace::create());
    PROMTACT_TRY_ASSIGN(
        netns::VethPair faulty, make_pair(
                                    sender, receiver,
                                    {netns::InterfaceName::literal("promtact-out"),
                                     netns::InterfaceName::literal("promtact-in"),
                                     1,
                                     {sender_v4, sender_v6},
                                     {receiver_v4, receiver_v6}}));
    PROMTACT_TRY_ASSIGN(
        netns::VethPair beside, make_pair(
                                    sender, receiver,
                                    {netns::InterfaceName::literal("promtact-out2"),
                                     netns::InterfaceName::literal("promtact-in2"),
                                     3,
                                     {sender_other},
                                     {receiver_other}}));
    PROMTACT_TRY_ASSIGN(Lane v4, make_lane(sender, sender_v4, receiver, receiver_v4));
    PROMTACT_TRY_ASSIGN(Lane v6, make_lane(sender, sender_v6, receiver, receiver_v6));
    PROMTACT_TRY_ASSIGN(Lane other, make_lane(sender, sender_other, receiver, receiver_other));
    return Testbed{std::move(sender), std::move(receiver), std::move(faulty), std::move(beside),
                   std::move(v4),     std::move(v6),       std::move(other)};
}

Prediction predict(const Phase& phase, std::uint32_t number) {
    const ebpf::FaultPolicy& policy = phase.policy;
    Prediction out;
    std::uint64_t xdp_index = 0;
    for (std::uint64_t index = 0; index < phase.packets; ++index) {
        if (ebpf::tc_drops(policy, index)) {
            ++out.tc_lost;
            continue;
        }
        const bool damaged = ebpf::tc_corrupts(policy, index);
        out.tc_corrupted += damaged ? 1 : 0;
        if (policy.blocked_source) {
            ++out.blocked_source;
            continue;
        }
        if (policy.blocked_destination) {
            ++out.blocked_destination;
            continue;
        }
        if (ebpf::xdp_drops(policy, xdp_index++)) {
            ++out.xdp_lost;
            continue;
        }
        if (damaged && policy.corrupt_mode == ebpf::CorruptMode::detected) {
            ++out.checksum_errors;
            continue;
        }
        Payload payload = payload_of(number, index);
        if (damaged) {
            const std::uint32_t bit = ebpf::corrupted_bit(policy, index, payload_bytes);
            payload[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        }
        out.arrivals.push_back(payload);
    }
    return out;
}

Result<Observation>
run_flow(Testbed& testbed, ebpf::FaultProgram& program, const Phase& phase, std::uint32_t number) {
    Lane& lane = phase.v6 ? testbed.v6 : testbed.v4;
    Observation observation;
    observation.arrivals.reserve(phase.packets);
    PROMTACT_TRY_ASSIGN(const netns::UdpCounters before, netns::udp_counters(testbed.receiver));
    while (observation.sent < phase.packets) {
        for (std::uint64_t i = 0; i < burst && observation.sent < phase.packets; ++i) {
            PROMTACT_TRY(lane.out.send(payload_of(number, observation.sent)));
            ++observation.sent;
            if (i % other_every != 0) continue;
            PROMTACT_TRY(testbed.other.out.send(payload_of(number, observation.other_sent)));
            ++observation.other_sent;
        }
        PROMTACT_TRY(settle(testbed, lane, program, observation));
    }
    PROMTACT_TRY_ASSIGN(observation.counters, program.counters());
    PROMTACT_TRY(receive_the_rest(testbed, lane, before, observation));
    PROMTACT_TRY_ASSIGN(observation.counters, program.counters());
    return observation;
}

std::string judge(const Phase& phase, const Prediction& predicted, const Observation& observed) {
    const ebpf::FaultCounters& count = observed.counters;
    struct Row {
        const char* what;
        std::uint64_t found;
        std::uint64_t wanted;
    };
    const std::uint64_t accounted =
        observed.arrivals.size() + count[PROMTACT_COUNT_TC_LOST] + count[PROMTACT_COUNT_XDP_LOST] +
        count[PROMTACT_COUNT_XDP_BLOCKED_SOURCE] + count[PROMTACT_COUNT_XDP_BLOCKED_DESTINATION] +
        observed.kernel.checksum_errors;
    for (const Row& row :
         {Row{"packets sent", observed.sent, phase.packets},
          Row{"packets of the other link received", observed.other_received, observed.other_sent},
          Row{"receive buffer overflows", observed.kernel.receive_buffer_errors, 0},
          Row{"packets lost by TC", count[PROMTACT_COUNT_TC_LOST], predicted.tc_lost},
          Row{"packets lost by XDP", count[PROMTACT_COUNT_XDP_LOST], predicted.xdp_lost},
          Row{"packets damaged", count[PROMTACT_COUNT_TC_CORRUPTED], predicted.tc_corrupted},
          Row{"packets without a byte to damage", count[PROMTACT_COUNT_TC_INCORRUPTIBLE], 0},
          Row{"packets blocked by source", count[PROMTACT_COUNT_XDP_BLOCKED_SOURCE],
              predicted.blocked_source},
          Row{"packets blocked by destination", count[PROMTACT_COUNT_XDP_BLOCKED_DESTINATION],
              predicted.blocked_destination},
          Row{"packets the kernel found damaged", observed.kernel.checksum_errors,
              predicted.checksum_errors},
          Row{"packets received", observed.arrivals.size(), predicted.arrivals.size()},
          Row{"packets accounted for", accounted, observed.sent},
          Row{"datagrams of a wrong size", observed.wrong_sizes, 0}})
        if (row.found != row.wanted) return disagree(phase, row.what, row.found, row.wanted);
    for (std::size_t i = 0; i < observed.arrivals.size(); ++i) {
        if (observed.arrivals[i] != predicted.arrivals[i]) {
            return std::string{phase.name} + ": datagram " + std::to_string(i) +
                   " of those received differs from the predicted one";
        }
    }
    if (phase.interval == Phase::Interval::none) return {};
    const std::optional<Interval> interval = ten_percent_interval(phase.packets);
    PROMTACT_ASSERT(interval.has_value());
    const std::uint64_t lost = phase.interval == Phase::Interval::xdp
                                   ? count[PROMTACT_COUNT_XDP_LOST]
                                   : count[PROMTACT_COUNT_TC_LOST];
    if (lost >= interval->low && lost <= interval->high) return {};
    return std::string{phase.name} + ": " + std::to_string(lost) +
           " losses lie outside the binomial interval " + std::to_string(interval->low) + " to " +
           std::to_string(interval->high);
}

std::optional<Interval> ten_percent_interval(std::uint64_t n) noexcept {
    // Exact: sums of binomial terms as integers; gate_test.cpp adds the tails up again.
    if (n == 5'000) return Interval{.low = 399, .high = 607};
    if (n == 20'000) return Interval{.low = 1'796, .high = 2'211};
    return std::nullopt;
}

} // namespace promtact::gates::packet_fault
