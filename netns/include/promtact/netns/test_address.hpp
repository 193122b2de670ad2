// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Addresses that nobody's network uses: the documentation ranges only.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <sys/socket.h>

#include <promtact/base/result.hpp>

namespace promtact::netns {

/// An IPv4 address inside 192.0.2.0/24, 198.51.100.0/24 or 203.0.113.0/24, or an IPv6 address
/// inside 2001:db8::/32, with its prefix length.
/// Source: RFC 5737, RFC 3849
class TestAddress {
  public:
    /// Reads "192.0.2.1/30" or "2001:db8::1/64".
    /// Errors: invalid_argument (not an address), refused (an address others may own).
    static Result<TestAddress> parse(std::string_view text);

    bool is_v6() const noexcept { return family_ == AF_INET6; }
    int family() const noexcept { return family_; }
    std::uint8_t prefix_length() const noexcept { return prefix_length_; }
    /// Network byte order; the first 4 bytes for IPv4.
    const std::array<std::uint8_t, 16>& bytes() const noexcept { return bytes_; }
    std::size_t byte_count() const noexcept { return is_v6() ? 16 : 4; }
    /// 16 bytes, IPv4 as ::ffff:a.b.c.d.
    std::array<std::uint8_t, 16> mapped() const noexcept;
    /// Without the prefix length.
    std::string text() const;
    /// Fills storage for bind(2) or connect(2) and returns its length.
    socklen_t socket_address(std::uint16_t port, sockaddr_storage& storage) const noexcept;

    friend bool operator==(const TestAddress&, const TestAddress&) = default;

  private:
    TestAddress() = default;

    int family_ = AF_INET;
    std::uint8_t prefix_length_ = 0;
    std::array<std::uint8_t, 16> bytes_{};
};

} // namespace promtact::netns
