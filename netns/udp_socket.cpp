// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <promtact/netns/udp_socket.hpp>

namespace promtact::netns {
namespace {

constexpr int receive_buffer_bytes = 16 * 1024 * 1024;
constexpr std::size_t table_bytes_max = 64 * 1024;

Result<UniqueFd> bound_socket(const sockaddr_storage& address, socklen_t length, int family) {
    UniqueFd fd{::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    if (!fd) return Error::from_errno(errno, "open a datagram socket in the namespace");
    // FORCE needs CAP_NET_ADMIN in the initial user namespace; without it the limit of the host
    // holds.
    if (::setsockopt(
            fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer_bytes,
            sizeof receive_buffer_bytes) != 0 &&
        ::setsockopt(
            fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes) !=
            0)
        return Error::from_errno(errno, "size a datagram socket in the namespace");
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
        return Error::from_errno(errno, "bind a datagram socket in the namespace");
    return fd;
}

/// A table of /proc for the namespace of the calling thread.
Result<std::string> read_table(const char* path) {
    const UniqueFd fd{::open(path, O_RDONLY | O_CLOEXEC)};
    if (!fd) return Error::from_errno(errno, std::string{"open "} + path);
    std::string text(table_bytes_max, '\0');
    std::size_t used = 0;
    while (used < text.size()) {
        const ssize_t got = ::read(fd.get(), text.data() + used, text.size() - used);
        if (got < 0) return Error::from_errno(errno, std::string{"read "} + path);
        if (got == 0) break;
        used += static_cast<std::size_t>(got);
    }
    text.resize(used);
    return text;
}

std::vector<std::string_view> words(std::string_view line) {
    std::vector<std::string_view> out;
    while (!line.empty()) {
        const std::size_t start = line.find_first_not_of(" \t");
        if (start == std::string_view::npos) break;
        const std::size_t end = std::min(line.find_first_of(" \t", start), line.size());
        out.push_back(line.substr(start, end - start));
        line.remove_prefix(end);
    }
    return out;
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), value));
    return value;
}

void add(UdpCounters& counters, std::string_view name, std::uint64_t value) {
    if (name == "InDatagrams") counters.in_datagrams += value;
    if (name == "OutDatagrams") counters.out_datagrams += value;
    if (name == "InCsumErrors") counters.checksum_errors += value;
    if (name == "RcvbufErrors") counters.receive_buffer_errors += value;
}

/// snmp: a line of names, then a line of values, both starting with "Udp:". snmp6: one pair a line.
UdpCounters parse_tables(std::string_view snmp, std::string_view snmp6) {
    UdpCounters counters;
    std::vector<std::string_view> names;
    for (std::size_t at = 0; at < snmp.size();) {
        const std::size_t end = std::min(snmp.find('\n', at), snmp.size());
        const std::vector<std::string_view> fields = words(snmp.substr(at, end - at));
        at = end + 1;
        if (fields.empty() || fields[0] != "Udp:") continue;
        for (std::size_t i = 1; i < names.size() && i < fields.size(); ++i)
            add(counters, names[i], number(fields[i]));
        names = fields;
    }
    for (std::size_t at = 0; at < snmp6.size();) {
        const std::size_t end = std::min(snmp6.find('\n', at), snmp6.size());
        const std::vector<std::string_view> fields = words(snmp6.substr(at, end - at));
        at = end + 1;
        if (fields.size() == 2 && fields[0].substr(0, 4) == "Udp6")
            add(counters, fields[0].substr(4), number(fields[1]));
    }
    return counters;
}

} // namespace

Result<UdpSocket>
UdpSocket::bind(const Namespace& where, const TestAddress& address, std::uint16_t port) {
    sockaddr_storage storage{};
    const socklen_t length = address.socket_address(port, storage);
    PROMTACT_TRY_ASSIGN(UniqueFd fd, run_inside(where, [&] {
                            return bound_socket(storage, length, address.family());
                        }));
    sockaddr_storage bound{};
    socklen_t bound_length = sizeof bound;
    if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound), &bound_length) != 0)
        return Error::from_errno(errno, "read the port of a datagram socket");
    // Port sits at the same place in sockaddr_in and sockaddr_in6.
    static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
    const std::uint16_t chosen = ntohs(reinterpret_cast<const sockaddr_in&>(bound).sin_port);
    PROMTACT_ASSERT(port == 0 || chosen == port);
    return UdpSocket{std::move(fd), chosen};
}

Result<void> UdpSocket::connect(const TestAddress& peer, std::uint16_t port) {
    PROMTACT_ASSERT(port != 0);
    sockaddr_storage storage{};
    const socklen_t length = peer.socket_address(port, storage);
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&storage), length) != 0)
        return Error::from_errno(errno, "connect a datagram socket to " + peer.text());
    return {};
}

Result<void> UdpSocket::send(std::span<const std::byte> datagram) {
    const ssize_t sent = ::send(fd_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL);
    if (sent < 0) return Error::from_errno(errno, "send a datagram");
    PROMTACT_ASSERT(static_cast<std::size_t>(sent) == datagram.size());
    return {};
}

Result<std::optional<std::size_t>>
UdpSocket::receive(std::span<std::byte> buffer, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        // Looked at before receiving: whatever came in time is taken, however late we get to run.
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got >= 0) return std::optional<std::size_t>{static_cast<std::size_t>(got)};
        if (errno != EAGAIN && errno != EINTR)
            return Error::from_errno(errno, "receive a datagram");
        if (left.count() <= 0) return std::optional<std::size_t>{};
        pollfd waiting{.fd = fd_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, static_cast<int>(left.count())) < 0 && errno != EINTR)
            return Error::from_errno(errno, "wait for a datagram");
    }
}

Result<UdpCounters> udp_counters(const Namespace& where) {
    return run_inside(where, []() -> Result<UdpCounters> {
        PROMTACT_TRY_ASSIGN(const std::string snmp, read_table("/proc/thread-self/net/snmp"));
        Result<std::string> snmp6 = read_table("/proc/thread-self/net/snmp6");
        // A kernel without IPv6 has no such table.
        if (!snmp6 && snmp6.error().sys_errno != ENOENT) return std::move(snmp6).error();
        return parse_tables(snmp, std::move(snmp6).value_or(""));
    });
}

} // namespace promtact::netns
