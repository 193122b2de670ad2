// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstring>
#include <functional>
#include <map>
#include <set>

#include <arpa/inet.h>
#include <net/if.h>

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <promtact/netns/netlink_socket.hpp>

#include "audit_internal.hpp"
#include "message_internal.hpp"

namespace promtact::netns {
namespace {

using Names = std::map<std::uint32_t, std::string>;

/// Flags an operator sets; the others follow carrier and peers by themselves.
constexpr unsigned steady_flags = IFF_UP | IFF_PROMISC | IFF_ALLMULTI | IFF_NOARP | IFF_LOOPBACK;

std::string hex(std::span<const std::uint8_t> bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

std::string address_text(int family, std::span<const std::uint8_t> bytes) {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    const bool fits =
        (family == AF_INET && bytes.size() == 4) || (family == AF_INET6 && bytes.size() == 16);
    if (!fits) return hex(bytes);
    const char* text =
        ::inet_ntop(family, bytes.data(), buffer.data(), static_cast<socklen_t>(buffer.size()));
    return text == nullptr ? hex(bytes) : text;
}

std::string number(std::uint64_t value) {
    return std::to_string(value);
}

std::string name_of(const Names& names, std::uint32_t index) {
    const auto found = names.find(index);
    return found == names.end() ? "index" + number(index) : found->second;
}

std::string link_kind(const nlattr* info) {
    if (info == nullptr) return "none";
    const nlattr* kind =
        nla_find(static_cast<const nlattr*>(nla_data(info)), nla_len(info), IFLA_INFO_KIND);
    return kind == nullptr ? "none" : std::string{static_cast<const char*>(nla_data(kind))};
}

std::uint32_t xdp_program(const nlattr* xdp) {
    if (xdp == nullptr) return 0;
    const nlattr* id =
        nla_find(static_cast<const nlattr*>(nla_data(xdp)), nla_len(xdp), IFLA_XDP_PROG_ID);
    return id == nullptr ? 0 : nla_get_u32(id);
}

Result<Names> collect_links(NetlinkSocket& socket, Parts parts, Lines& lines) {
    Names names;
    Message message{RTM_GETLINK, 0, ifinfomsg{}};
    PROMTACT_TRY(socket.dump(message.get(), "list links", [&](nlmsghdr& header) {
        const Attributes<IFLA_MAX, ifinfomsg> link{header};
        if (!link.valid()) return;
        const auto index = static_cast<std::uint32_t>(link.header().ifi_index);
        const std::string name{link.text(IFLA_IFNAME)};
        names[index] = name;
        if (parts.has(Part::links))
            lines.push_back(
                "link " + name + " index " + number(index) + " kind " +
                link_kind(link.at(IFLA_LINKINFO)) + " mac " + hex(link.bytes(IFLA_ADDRESS)) +
                " mtu " + number(link.u32(IFLA_MTU)) + " flags " +
                number(link.header().ifi_flags & steady_flags) + " group " +
                number(link.u32(IFLA_GROUP)) + " master " + number(link.u32(IFLA_MASTER)) +
                " alias \"" + std::string{link.text(IFLA_IFALIAS)} + "\"");
        const std::uint32_t program = xdp_program(link.at(IFLA_XDP));
        if (parts.has(Part::attachments) && program != 0)
            lines.push_back("attached xdp " + name + " program " + number(program));
    }));
    return names;
}

Result<void> collect_addresses(NetlinkSocket& socket, const Names& names, Lines& lines) {
    Message message{RTM_GETADDR, 0, ifaddrmsg{}};
    return socket.dump(message.get(), "list addresses", [&](nlmsghdr& header) {
        const Attributes<IFA_MAX, ifaddrmsg> address{header};
        if (!address.valid()) return;
        const int type = address.at(IFA_LOCAL) != nullptr ? IFA_LOCAL : IFA_ADDRESS;
        lines.push_back(
            "address " + name_of(names, address.header().ifa_index) + " " +
            address_text(address.header().ifa_family, address.bytes(type)) + "/" +
            number(address.header().ifa_prefixlen) + " scope " +
            number(address.header().ifa_scope));
    });
}

Result<void> collect_routes(NetlinkSocket& socket, const Names& names, Lines& lines) {
    Message message{RTM_GETROUTE, 0, rtmsg{}};
    return socket.dump(message.get(), "list routes", [&](nlmsghdr& header) {
        const Attributes<RTA_MAX, rtmsg> route{header};
        if (!route.valid() || (route.header().rtm_flags & RTM_F_CLONED) != 0) return;
        const int family = route.header().rtm_family;
        lines.push_back(
            "route " + address_text(family, route.bytes(RTA_DST)) + "/" +
            number(route.header().rtm_dst_len) + " family " +
            number(static_cast<std::uint64_t>(family)) + " via \"" +
            address_text(family, route.bytes(RTA_GATEWAY)) + "\" dev " +
            name_of(names, route.u32(RTA_OIF)) + " table " +
            number(route.u32(RTA_TABLE, route.header().rtm_table)) + " type " +
            number(route.header().rtm_type) + " metric " + number(route.u32(RTA_PRIORITY)) +
            " hops " + hex(route.bytes(RTA_MULTIPATH)));
    });
}

/// Adds lines for the qdiscs, and the indexes of links that can carry clsact filters to filtered.
Result<void> collect_qdiscs(
    NetlinkSocket& socket, const Names& names, Parts parts, Lines& lines,
    std::set<std::uint32_t>& filtered) {
    Message message{RTM_GETQDISC, 0, tcmsg{}};
    return socket.dump(message.get(), "list qdiscs", [&](nlmsghdr& header) {
        const Attributes<TCA_MAX, tcmsg> qdisc{header};
        if (!qdisc.valid()) return;
        const auto index = static_cast<std::uint32_t>(qdisc.header().tcm_ifindex);
        const std::string kind{qdisc.text(TCA_KIND)};
        if (kind == "clsact" || kind == "ingress") filtered.insert(index);
        if (parts.has(Part::qdiscs)) {
            lines.push_back(
                "qdisc " + name_of(names, index) + " " + kind + " handle " +
                number(qdisc.header().tcm_handle) + " parent " + number(qdisc.header().tcm_parent) +
                " options " + hex(qdisc.bytes(TCA_OPTIONS)));
        }
    });
}

Result<void>
collect_filters(NetlinkSocket& socket, std::uint32_t index, const std::string& name, Lines& lines) {
    for (const std::uint32_t minor : {TC_H_MIN_INGRESS, TC_H_MIN_EGRESS}) {
        tcmsg request{};
        request.tcm_ifindex = static_cast<int>(index);
        request.tcm_parent = TC_H_MAKE(TC_H_CLSACT, minor);
        Message message{RTM_GETTFILTER, 0, request};
        PROMTACT_TRY(socket.dump(message.get(), "list filters of " + name, [&](nlmsghdr& header) {
            const Attributes<TCA_MAX, tcmsg> filter{header};
            if (!filter.valid()) return;
            lines.push_back(
                "attached filter " + name + " " + std::string{filter.text(TCA_KIND)} + " parent " +
                number(filter.header().tcm_parent) + " handle " +
                number(filter.header().tcm_handle) + " priority " +
                number(TC_H_MAJ(filter.header().tcm_info) >> 16));
        }));
    }
    return {};
}

} // namespace

Result<void> collect_interfaces(Parts parts, Lines& lines) {
    PROMTACT_TRY_ASSIGN(NetlinkSocket socket, NetlinkSocket::open_here());
    PROMTACT_TRY_ASSIGN(const Names names, collect_links(socket, parts, lines));
    if (parts.has(Part::addresses)) PROMTACT_TRY(collect_addresses(socket, names, lines));
    if (parts.has(Part::routes)) PROMTACT_TRY(collect_routes(socket, names, lines));
    if (!parts.has(Part::qdiscs) && !parts.has(Part::attachments)) return {};
    std::set<std::uint32_t> filtered;
    PROMTACT_TRY(collect_qdiscs(socket, names, parts, lines, filtered));
    if (!parts.has(Part::attachments)) return {};
    for (const std::uint32_t index : filtered)
        PROMTACT_TRY(collect_filters(socket, index, name_of(names, index), lines));
    for (const auto& [index, name] : names)
        collect_tcx(index, name, lines);
    return {};
}

} // namespace promtact::netns
