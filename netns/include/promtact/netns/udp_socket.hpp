// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Datagrams inside a namespace, for counting what a link lets through.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <promtact/base/result.hpp>
#include <promtact/base/unique_fd.hpp>
#include <promtact/netns/namespace.hpp>
#include <promtact/netns/test_address.hpp>

namespace promtact::netns {

/// A UDP socket that lives in a namespace made by us; usable from any thread.
class UdpSocket {
  public:
    /// Bound to address; port 0 lets the kernel choose. The receive buffer is made large enough for
    /// some thousand small datagrams where the privilege allows it.
    static Result<UdpSocket>
    bind(const Namespace& where, const TestAddress& address, std::uint16_t port);

    std::uint16_t port() const noexcept { return port_; }
    /// Every send goes to this peer, and only its datagrams are received.
    Result<void> connect(const TestAddress& peer, std::uint16_t port);
    /// Hands one datagram to the kernel. A loss after that is not an error.
    Result<void> send(std::span<const std::byte> datagram);
    /// The size of the next datagram, written into buffer; nothing when none came in time.
    Result<std::optional<std::size_t>>
    receive(std::span<std::byte> buffer, std::chrono::milliseconds timeout);

  private:
    UdpSocket(UniqueFd fd, std::uint16_t port) noexcept : fd_(std::move(fd)), port_(port) {}

    UniqueFd fd_;
    std::uint16_t port_;
};

/// The namespace's own UDP counters, IPv4 and IPv6 added up.
/// Source: /proc/net/snmp, /proc/net/snmp6
struct UdpCounters {
    std::uint64_t in_datagrams = 0;
    std::uint64_t out_datagrams = 0;
    std::uint64_t checksum_errors = 0;
    std::uint64_t receive_buffer_errors = 0;
};

/// The kernel's UDP counters of a namespace of ours, both address families added.
Result<UdpCounters> udp_counters(const Namespace& where);

} // namespace promtact::netns
