// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <promtact/netns/test_address.hpp>

namespace promtact::netns {
namespace {

constexpr std::array<std::array<std::uint8_t, 3>, 3> test_nets{
    {{192, 0, 2}, {198, 51, 100}, {203, 0, 113}}};
constexpr std::array<std::uint8_t, 4> documentation_v6{0x20, 0x01, 0x0d, 0xb8};
constexpr std::size_t text_max = 64;
constexpr std::string_view allowed =
    "192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24 or 2001:db8::/32";

Error not_an_address(std::string_view text) {
    return Error{
        Errc::invalid_argument, 0,
        "\"" + std::string{text.substr(0, text_max)} +
            "\" is no address with prefix length such as 192.0.2.1/30"};
}

bool documented(int family, const std::array<std::uint8_t, 16>& bytes, unsigned prefix) {
    if (family == AF_INET6) {
        return prefix >= 32 &&
               std::memcmp(bytes.data(), documentation_v6.data(), documentation_v6.size()) == 0;
    }
    for (const auto& net : test_nets)
        if (std::memcmp(bytes.data(), net.data(), net.size()) == 0) return prefix >= 24;
    return false;
}

} // namespace

Result<TestAddress> TestAddress::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos || text.size() > text_max) return not_an_address(text);
    const std::string host{text.substr(0, slash)};
    const std::string_view digits = text.substr(slash + 1);

    TestAddress address;
    address.family_ = host.find(':') == std::string::npos ? AF_INET : AF_INET6;
    if (::inet_pton(address.family_, host.c_str(), address.bytes_.data()) != 1)
        return not_an_address(text);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), address.prefix_length_);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    if (!whole || address.prefix_length_ > 8 * address.byte_count()) return not_an_address(text);

    if (!documented(address.family_, address.bytes_, address.prefix_length_)) {
        return Error{
            Errc::refused, 0,
            "address " + std::string{text} + " lies outside the test networks " +
                std::string{allowed}};
    }
    return address;
}

std::array<std::uint8_t, 16> TestAddress::mapped() const noexcept {
    if (is_v6()) return bytes_;
    std::array<std::uint8_t, 16> out{};
    out[10] = 0xff;
    out[11] = 0xff;
    std::memcpy(out.data() + 12, bytes_.data(), 4);
    return out;
}

std::string TestAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    const char* text =
        ::inet_ntop(family_, bytes_.data(), buffer.data(), static_cast<socklen_t>(buffer.size()));
    PROMTACT_ASSERT(text != nullptr);
    return text;
}

socklen_t
TestAddress::socket_address(std::uint16_t port, sockaddr_storage& storage) const noexcept {
    storage = {};
    if (is_v6()) {
        sockaddr_in6 v6{};
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        std::memcpy(&v6.sin6_addr, bytes_.data(), sizeof v6.sin6_addr);
        std::memcpy(&storage, &v6, sizeof v6);
        return sizeof v6;
    }
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes_.data(), sizeof v4.sin_addr);
    std::memcpy(&storage, &v4, sizeof v4);
    return sizeof v4;
}

} // namespace promtact::netns
