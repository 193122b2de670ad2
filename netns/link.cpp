// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>

#include <promtact/base/kill_point.hpp>
#include <promtact/netns/link.hpp>

#include "message_internal.hpp"

namespace promtact::netns {
namespace {

constexpr std::chrono::seconds ready_within{5};
// IF_OPER_UP of linux/if.h, which cannot be included beside net/if.h.
constexpr std::uint8_t operstate_up = 6;

std::string draw_run_alias() {
    std::array<std::uint8_t, 8> bits{};
    // getrandom(2) of up to 256 bytes is never short and cannot fail once the pool is ready.
    const auto drawn = ::getrandom(bits.data(), bits.size(), 0);
    PROMTACT_ASSERT(drawn == static_cast<ssize_t>(bits.size()));
    std::string text = "promtact:";
    for (const std::uint8_t byte : bits) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

/// An index of its own for every link of this process. With the kernel's choice both ends would get
/// the same one in two fresh namespaces, and its link watch takes a link whose peer has the same
/// index for one whose carrier can wait a second.
std::uint32_t next_index() {
    static std::atomic<std::uint32_t> next{1000};
    return next.fetch_add(1, std::memory_order_relaxed);
}

ifinfomsg link_header(std::uint32_t index) {
    ifinfomsg header{};
    header.ifi_family = AF_UNSPEC;
    header.ifi_index = static_cast<int>(index);
    return header;
}

std::string attempt(const char* what, const InterfaceName& name) {
    return std::string{what} + " " + name.c_str();
}

LinkState parse_state(nlmsghdr& header) {
    const Attributes<IFLA_MAX, ifinfomsg> attributes{header};
    LinkState state;
    if (!attributes.valid()) return state;
    state.index = static_cast<std::uint32_t>(attributes.header().ifi_index);
    state.up = (attributes.header().ifi_flags & IFF_UP) != 0;
    const auto operstate = attributes.bytes(IFLA_OPERSTATE);
    state.ready = state.up && operstate.size() == 1 && operstate[0] == operstate_up;
    state.group = attributes.u32(IFLA_GROUP);
    state.mtu = attributes.u32(IFLA_MTU);
    state.alias = attributes.text(IFLA_IFALIAS);
    const auto mac = attributes.bytes(IFLA_ADDRESS);
    if (mac.size() == state.mac.size()) std::memcpy(state.mac.data(), mac.data(), mac.size());
    const auto raw = attributes.bytes(IFLA_STATS64);
    rtnl_link_stats64 stats{};
    std::memcpy(&stats, raw.data(), std::min(raw.size(), sizeof stats));
    state.counters = {
        .rx_packets = stats.rx_packets,
        .tx_packets = stats.tx_packets,
        .rx_dropped = stats.rx_dropped,
        .tx_dropped = stats.tx_dropped};
    return state;
}

struct Sockets {
    NetlinkSocket netlink;
    UniqueFd control;
};

Result<Sockets> open_sockets(const Namespace& where) {
    return run_inside(where, []() -> Result<Sockets> {
        PROMTACT_TRY_ASSIGN(NetlinkSocket netlink, NetlinkSocket::open_here());
        UniqueFd control{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
        if (!control) return Error::from_errno(errno, "open a control socket in the namespace");
        return Sockets{std::move(netlink), std::move(control)};
    });
}

} // namespace

MacAddress fixed_mac(std::uint32_t number) noexcept {
    return {
        0x02,
        0x50,
        0x4d,
        static_cast<std::uint8_t>(number >> 16),
        static_cast<std::uint8_t>(number >> 8),
        static_cast<std::uint8_t>(number)};
}

const std::string& run_alias() {
    static const std::string alias = draw_run_alias();
    return alias;
}

Result<void> Link::set_up(bool up) {
    ifinfomsg header = link_header(index_);
    header.ifi_change = IFF_UP;
    if (up) header.ifi_flags = IFF_UP;
    Message message{RTM_NEWLINK, 0, header};
    message.put_text(IFLA_IFALIAS, run_alias().c_str());
    return socket_.request(message.get(), attempt(up ? "set up" : "set down", name_));
}

/// No link-local IPv6 address: it would come some time later, with router solicitations among the
/// packets that are counted.
Result<void> Link::refuse_automatic_addresses() {
    Message message{RTM_NEWLINK, 0, link_header(index_)};
    message.nest(IFLA_AF_SPEC, [&] {
        message.nest(AF_INET6, [&] {
            const std::uint8_t none = IN6_ADDR_GEN_MODE_NONE;
            message.put_bytes(IFLA_INET6_ADDR_GEN_MODE, {&none, 1});
        });
    });
    Result<void> set = socket_.request(message.get(), attempt("quieten", name_));
    // A kernel without IPv6 makes no such addresses.
    const bool no_ipv6 = !set && set.error().code == Errc::unsupported;
    return no_ipv6 ? Result<void>{} : std::move(set);
}

Result<void> Link::add_address(const TestAddress& address) {
    ifaddrmsg header{};
    header.ifa_family = static_cast<std::uint8_t>(address.family());
    header.ifa_prefixlen = address.prefix_length();
    if (address.is_v6()) header.ifa_flags = IFA_F_NODAD;
    header.ifa_index = index_;
    Message message{RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, header};
    const std::span<const std::uint8_t> bytes{address.bytes().data(), address.byte_count()};
    message.put_bytes(IFA_LOCAL, bytes);
    message.put_bytes(IFA_ADDRESS, bytes);
    return socket_.request(
        message.get(), attempt(("add " + address.text() + " to").c_str(), name_));
}

Result<void> Link::add_neighbour(const TestAddress& address, const MacAddress& mac) {
    ndmsg header{};
    header.ndm_family = static_cast<std::uint8_t>(address.family());
    header.ndm_ifindex = static_cast<int>(index_);
    header.ndm_state = NUD_PERMANENT;
    Message message{RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, header};
    message.put_bytes(NDA_DST, {address.bytes().data(), address.byte_count()});
    message.put_bytes(NDA_LLADDR, mac);
    return socket_.request(
        message.get(), attempt(("add neighbour " + address.text() + " to").c_str(), name_));
}

Result<void> Link::use_software_checksums() {
    ifreq request{};
    std::memcpy(request.ifr_name, name_.c_str(), name_.view().size() + 1);
    ethtool_value value{.cmd = ETHTOOL_STXCSUM, .data = 0};
    request.ifr_data = reinterpret_cast<char*>(&value);
    if (::ioctl(control_.get(), SIOCETHTOOL, &request) != 0)
        return Error::from_errno(errno, attempt("switch off checksum offload of", name_));
    value = {.cmd = ETHTOOL_GTXCSUM, .data = 1};
    if (::ioctl(control_.get(), SIOCETHTOOL, &request) != 0)
        return Error::from_errno(errno, attempt("read checksum offload of", name_));
    if (value.data != 0)
        return Error{Errc::unsupported, 0, attempt("checksum offload cannot be cleared on", name_)};
    return {};
}

Result<LinkState> Link::state() {
    Message message{RTM_GETLINK, 0, link_header(0)};
    LinkState state;
    PROMTACT_TRY(socket_.dump(message.get(), attempt("read", name_), [&](nlmsghdr& header) {
        const Attributes<IFLA_MAX, ifinfomsg> attributes{header};
        if (attributes.valid() && attributes.text(IFLA_IFNAME) == name_.view())
            state = parse_state(header);
    }));
    if (state.index == 0) return Error{Errc::not_found, ENODEV, attempt("read", name_)};
    return state;
}

Result<void> Link::remove() {
    Message message{RTM_DELLINK, 0, link_header(index_)};
    return socket_.request(message.get(), attempt("remove", name_));
}

Result<void> VethPair::make(const Namespace& right_namespace) {
    left_.index_ = next_index();
    right_.index_ = next_index();
    Message message{RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, link_header(left_.index_)};
    message.put_text(IFLA_IFNAME, left_.name_.c_str());
    message.put_bytes(IFLA_ADDRESS, left_.mac_);
    message.put_u32(IFLA_GROUP, link_group);
    message.nest(IFLA_LINKINFO, [&] {
        message.put_text(IFLA_INFO_KIND, "veth");
        message.nest(IFLA_INFO_DATA, [&] {
            message.nest(VETH_INFO_PEER, [&] {
                message.append(link_header(right_.index_));
                message.put_text(IFLA_IFNAME, right_.name_.c_str());
                message.put_bytes(IFLA_ADDRESS, right_.mac_);
                message.put_u32(IFLA_GROUP, link_group);
                message.put_u32(IFLA_NET_NS_FD, static_cast<std::uint32_t>(right_namespace.fd()));
            });
        });
    });
    Result<void> made = left_.socket_.request(message.get(), attempt("make veth", left_.name_));
    if (!made && made.error().sys_errno == EOPNOTSUPP)
        return Error{Errc::unsupported, EOPNOTSUPP, "make veth: the kernel lacks CONFIG_VETH"};
    PROMTACT_TRY(std::move(made));
    exists_ = true;
    kill_point();
    return {};
}

Result<void> VethPair::configure(Link& link, const VethEnd& own, const VethEnd& other) {
    PROMTACT_TRY_ASSIGN(const LinkState born, link.state());
    PROMTACT_ASSERT(born.mac == own.mac);
    PROMTACT_ASSERT(!born.up);
    PROMTACT_ASSERT(link.index_ == born.index);
    PROMTACT_TRY(link.use_software_checksums());
    PROMTACT_TRY(link.refuse_automatic_addresses());
    for (const TestAddress& address : own.addresses)
        PROMTACT_TRY(link.add_address(address));
    PROMTACT_TRY(link.set_up(true));
    for (const TestAddress& address : other.addresses)
        PROMTACT_TRY(link.add_neighbour(address, other.mac));
    kill_point();
    return {};
}

/// A link that was set up loses every packet until the kernel's link watch has seen its carrier.
Result<void> VethPair::wait_until_ready(Link& link) {
    const auto deadline = std::chrono::steady_clock::now() + ready_within;
    for (;;) {
        PROMTACT_TRY_ASSIGN(const LinkState state, link.state());
        // Setting it up once more changes nothing, but waits for the lock under which the link
        // watch is at work: only afterwards is the queueing discipline the real one.
        if (state.ready) return link.set_up(true);
        if (std::chrono::steady_clock::now() > deadline)
            return Error{Errc::timeout, 0, attempt("the kernel does not activate", link.name_)};
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

Result<VethPair> VethPair::create(const VethEnd& left, const VethEnd& right) {
    if (left.name == right.name) {
        return Error{
            Errc::invalid_argument, 0,
            "both ends of the veth pair are called " + std::string{left.name.view()}};
    }
    if (left.mac == right.mac)
        return Error{Errc::invalid_argument, 0, "both ends of the veth pair have the same MAC"};
    PROMTACT_TRY_ASSIGN(Sockets left_sockets, open_sockets(left.where));
    PROMTACT_TRY_ASSIGN(Sockets right_sockets, open_sockets(right.where));
    VethPair pair{
        Link{std::move(left_sockets.netlink), std::move(left_sockets.control), left.name, left.mac},
        Link{
            std::move(right_sockets.netlink), std::move(right_sockets.control), right.name,
            right.mac}};
    PROMTACT_TRY(pair.make(right.where));
    PROMTACT_TRY(pair.configure(pair.left_, left, right));
    PROMTACT_TRY(pair.configure(pair.right_, right, left));
    PROMTACT_TRY(wait_until_ready(pair.left_));
    PROMTACT_TRY(wait_until_ready(pair.right_));
    return pair;
}

VethPair::VethPair(VethPair&& other) noexcept
    : left_(std::move(other.left_)), right_(std::move(other.right_)),
      exists_(std::exchange(other.exists_, false)) {}

VethPair::~VethPair() {
    // What cannot be removed here goes with its namespace.
    static_cast<void>(remove().has_value());
}

Result<void> VethPair::remove() {
    if (!std::exchange(exists_, false)) return {};
    Result<void> removed = left_.remove();
    if (!removed && removed.error().code == Errc::not_found) return {};
    return removed;
}

} // namespace promtact::netns
