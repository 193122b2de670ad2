// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The testbed of the packet_fault gate: two namespaces, one link under fault, one link beside it,
// numbered datagrams, and the comparison of what happened with what the model predicts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/ebpf/fault_program.hpp>
#include <promtact/netns/link.hpp>
#include <promtact/netns/udp_socket.hpp>

namespace promtact::gates::packet_fault {

constexpr std::size_t payload_bytes = 32;
using Payload = std::array<std::byte, payload_bytes>;

/// Number and phase, and bytes derived from both.
Payload payload_of(std::uint32_t phase, std::uint64_t number) noexcept;

/// A sender and a receiver of datagrams over one link.
struct Lane {
    netns::UdpSocket out;
    netns::UdpSocket in;
};

struct Testbed {
    netns::Namespace sender;
    netns::Namespace receiver;
    netns::VethPair faulty; // left end in sender, right end in receiver
    netns::VethPair beside; // the same, without any program
    Lane v4;
    Lane v6;
    Lane other; // over beside

    static Result<Testbed> build();
};

/// One phase: what is configured and what is sent.
struct Phase {
    const char* name = "";
    ebpf::FaultPolicy policy{};
    std::uint64_t packets = 0;
    bool v6 = false;
    /// Which hook's losses must lie inside the binomial interval of 10 %.
    enum class Interval : std::uint8_t { none, xdp, tc } interval = Interval::none;
};

/// What must happen, computed from the policy alone.
struct Prediction {
    std::vector<Payload> arrivals{}; // in order, byte for byte
    std::uint64_t tc_lost = 0;
    std::uint64_t tc_corrupted = 0;
    std::uint64_t blocked_source = 0;
    std::uint64_t blocked_destination = 0;
    std::uint64_t xdp_lost = 0;
    std::uint64_t checksum_errors = 0;
};
/// Blocked addresses are taken to be those of the lane's two ends.
Prediction predict(const Phase& phase, std::uint32_t number);

/// What was counted: by the sender, by the receiver, by the programs, by the receiver's kernel.
struct Observation {
    std::uint64_t sent = 0;
    std::vector<Payload> arrivals{};
    std::uint64_t wrong_sizes = 0;
    std::uint64_t other_sent = 0;
    std::uint64_t other_received = 0;
    ebpf::FaultCounters counters{};
    netns::UdpCounters kernel{}; // differences over the phase
};
Result<Observation>
run_flow(Testbed& testbed, ebpf::FaultProgram& program, const Phase& phase, std::uint32_t number);

/// What does not agree, in words; empty when everything does.
std::string judge(const Phase& phase, const Prediction& predicted, const Observation& observed);

/// Smallest and largest count that 10 % of n packets may give: each tail has a probability of at
/// most 5e-7 (alpha = 1e-6 in all). Nothing for an n that is not in the table.
struct Interval {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};
std::optional<Interval> ten_percent_interval(std::uint64_t n) noexcept;

} // namespace promtact::gates::packet_fault
