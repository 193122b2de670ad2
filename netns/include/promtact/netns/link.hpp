// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// veth pairs whose two ends lie in namespaces we made. The host's own namespace is never involved:
// the pair is born in place by one netlink message sent from inside.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <promtact/base/result.hpp>
#include <promtact/netns/namespace.hpp>
#include <promtact/netns/netlink_socket.hpp>
#include <promtact/netns/safe_name.hpp>
#include <promtact/netns/test_address.hpp>

namespace promtact::netns {

using MacAddress = std::array<std::uint8_t, 6>;

/// A locally administered unicast address, fixed by number: 02:50:4d followed by its 3 low bytes.
MacAddress fixed_mac(std::uint32_t number) noexcept;

/// The alias put on every link of this process: "promtact:" and an id drawn once per process.
const std::string& run_alias();
/// The group put on every link we make, so that they can be told apart and removed together.
inline constexpr std::uint32_t link_group = 0x504d;

struct LinkCounters {
    std::uint64_t rx_packets = 0;
    std::uint64_t tx_packets = 0;
    std::uint64_t rx_dropped = 0;
    std::uint64_t tx_dropped = 0;
};

/// What the kernel says about a link now.
struct LinkState {
    std::uint32_t index = 0;
    bool up = false;
    bool ready = false; // carries packets: both ends are up and the kernel has noticed
    std::uint32_t group = 0;
    std::uint32_t mtu = 0;
    std::string alias{};
    MacAddress mac{};
    LinkCounters counters{};
};

/// One end of a veth pair, in a namespace made by us.
class Link {
  public:
    const InterfaceName& name() const noexcept { return name_; }
    std::uint32_t index() const noexcept { return index_; }
    const MacAddress& mac() const noexcept { return mac_; }

    Result<void> set_up(bool up);
    /// The address is usable at once: IPv6 duplicate detection is off (nobody else is there).
    Result<void> add_address(const TestAddress& address);
    /// A permanent neighbour entry, so that no ARP or neighbour discovery mixes with what is
    /// counted.
    Result<void> add_neighbour(const TestAddress& address, const MacAddress& mac);
    /// Checksums made and checked in software. With veth's default a damaged packet is delivered
    /// as good, since no checksum was ever put into it.
    Result<void> use_software_checksums();
    Result<LinkState> state();
    /// Errors: not_found when the link is gone.
    Result<void> remove();

  private:
    friend class VethPair;
    friend class Shaper;
    Result<void> refuse_automatic_addresses();
    Link(NetlinkSocket socket, UniqueFd control, const InterfaceName& name, MacAddress mac)
        : socket_(std::move(socket)), control_(std::move(control)), name_(name), mac_(mac) {}

    NetlinkSocket socket_; // inside the link's namespace
    UniqueFd control_;     // datagram socket for ioctl, inside the namespace too
    InterfaceName name_;
    MacAddress mac_;
    std::uint32_t index_ = 0;
};

/// What to make of one end. Lifetime: where must outlive the call only.
struct VethEnd {
    const Namespace& where;
    InterfaceName name;
    MacAddress mac{};
    std::vector<TestAddress> addresses{};
};

/// Both ends, up, addressed, each knowing the other's addresses; removed by the destructor. Holds
/// sockets inside both namespaces, which therefore live at least as long as the pair.
class VethPair {
  public:
    /// Errors: invalid_argument (equal names), exists, denied naming CAP_NET_ADMIN, unsupported
    /// naming CONFIG_VETH, timeout when the ends do not become ready. Nothing remains after an
    /// error.
    static Result<VethPair> create(const VethEnd& left, const VethEnd& right);

    VethPair(VethPair&& other) noexcept;
    VethPair& operator=(VethPair&&) = delete;
    VethPair(const VethPair&) = delete;
    ~VethPair();

    Link& left() noexcept { return left_; }
    Link& right() noexcept { return right_; }

    /// Removes both ends now. Later calls do nothing.
    Result<void> remove();
    /// Leaves the ends to their namespaces: they go when a namespace of them goes, not with this
    /// object.
    void leave() noexcept { exists_ = false; }

  private:
    VethPair(Link left, Link right) noexcept : left_(std::move(left)), right_(std::move(right)) {}
    Result<void> make(const Namespace& right_namespace);
    Result<void> configure(Link& link, const VethEnd& own, const VethEnd& other);
    static Result<void> wait_until_ready(Link& link);

    Link left_;
    Link right_;
    bool exists_ = false;
};

} // namespace promtact::netns
