/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the Promtact authors */
/*
 * Finding the addresses, the protocol and the payload of a frame: Ethernet, up to two VLAN tags,
 * ARP, IPv4 with options, IPv6 with a bounded walk over extension headers, fragments. Every access
 * is checked against data_end, as the verifier demands.
 */
#ifndef PROMTACT_EBPF_PACKET_BPF_H
#define PROMTACT_EBPF_PACKET_BPF_H

/* The helpers need the types of linux/bpf.h before them. */
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
// clang-format on
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#define VLAN_TAGS_MAX 2
#define EXTENSION_HEADERS_MAX 4

struct packet {
    __u8 source[16] __attribute__((aligned(8))); /* IPv4 as ::ffff:a.b.c.d */
    __u8 destination[16] __attribute__((aligned(8)));
    __u32 transport; /* offset of the transport header from the start of the frame */
    __u32 end;       /* offset of the end of the IP packet: frames may carry padding */
    __u8 protocol;
    __u8 has_addresses; /* IPv4, IPv6 or ARP */
    __u8 is_ip;
    __u8 is_later_fragment; /* no transport header */
};

struct vlan_tag {
    __be16 identifier;
    __be16 next_type;
};

struct arp_ipv4 {
    __be16 hardware;
    __be16 protocol;
    __u8 hardware_length;
    __u8 protocol_length;
    __be16 operation;
    __u8 sender_mac[6];
    __u8 sender[4];
    __u8 target_mac[6];
    __u8 target[4];
};

struct extension {
    __u8 next;
    __u8 length; /* in units the kind of header defines */
    __be16 fragment;
};

static __always_inline void map_ipv4(__u8* mapped, const void* address) {
    __builtin_memset(mapped, 0, 10);
    mapped[10] = 0xff;
    mapped[11] = 0xff;
    __builtin_memcpy(mapped + 12, address, 4);
}

static __always_inline int parse_arp(void* at, void* data_end, struct packet* out) {
    struct arp_ipv4* arp = at;
    if ((void*)(arp + 1) > data_end || arp->protocol_length != 4 || arp->hardware_length != 6)
        return 0;
    map_ipv4(out->source, arp->sender);
    map_ipv4(out->destination, arp->target);
    out->has_addresses = 1;
    return 1;
}

static __always_inline int parse_ipv4(void* data, void* at, void* data_end, struct packet* out) {
    struct iphdr* ip = at;
    __u32 header_length;
    if ((void*)(ip + 1) > data_end) return 0;
    header_length = ip->ihl * 4;
    if (header_length < sizeof *ip) return 0;
    map_ipv4(out->source, &ip->saddr);
    map_ipv4(out->destination, &ip->daddr);
    out->protocol = ip->protocol;
    out->is_later_fragment = (ip->frag_off & bpf_htons(0x1fff)) != 0;
    out->transport = (__u32)(at - data) + header_length;
    out->end = (__u32)(at - data) + bpf_ntohs(ip->tot_len);
    out->has_addresses = 1;
    out->is_ip = 1;
    return 1;
}

/* Length of an extension header in bytes; 0 for anything that is none. */
static __always_inline __u32 extension_length(__u8 kind, const struct extension* header) {
    switch (kind) {
    case IPPROTO_HOPOPTS:
    case IPPROTO_ROUTING:
    case IPPROTO_DSTOPTS:
        return (header->length + 1U) * 8;
    case IPPROTO_FRAGMENT:
        return 8;
    case IPPROTO_AH:
        return (header->length + 2U) * 4;
    default:
        return 0;
    }
}

static __always_inline int parse_ipv6(void* data, void* at, void* data_end, struct packet* out) {
    struct ipv6hdr* ip = at;
    __u32 offset = (__u32)(at - data) + sizeof *ip;
    if ((void*)(ip + 1) > data_end) return 0;
    __builtin_memcpy(out->source, &ip->saddr, 16);
    __builtin_memcpy(out->destination, &ip->daddr, 16);
    out->protocol = ip->nexthdr;
    out->end = offset + bpf_ntohs(ip->payload_len);
    for (int i = 0; i < EXTENSION_HEADERS_MAX; ++i) {
        struct extension* header;
        __u32 length;
        if (offset > 0x3fff) break; /* a bound the verifier accepts for packet access */
        header = data + offset;
        if ((void*)(header + 1) > data_end) break;
        length = extension_length(out->protocol, header);
        if (length == 0) break;
        if (out->protocol == IPPROTO_FRAGMENT)
            out->is_later_fragment |= (header->fragment & bpf_htons(0xfff8)) != 0;
        out->protocol = header->next;
        offset += length;
    }
    out->transport = offset;
    out->has_addresses = 1;
    out->is_ip = 1;
    return 1;
}

/* Fills out as far as the frame is understood; all zero otherwise. */
static __always_inline void parse(void* data, void* data_end, struct packet* out) {
    struct ethhdr* ethernet = data;
    void* at = ethernet + 1;
    __be16 type;
    if (at > data_end) return;
    type = ethernet->h_proto;
    for (int i = 0; i < VLAN_TAGS_MAX; ++i) {
        struct vlan_tag* tag = at;
        if (type != bpf_htons(ETH_P_8021Q) && type != bpf_htons(ETH_P_8021AD)) break;
        if ((void*)(tag + 1) > data_end) return;
        type = tag->next_type;
        at = tag + 1;
    }
    if (type == bpf_htons(ETH_P_IP)) parse_ipv4(data, at, data_end, out);
    if (type == bpf_htons(ETH_P_IPV6)) parse_ipv6(data, at, data_end, out);
    if (type == bpf_htons(ETH_P_ARP)) parse_arp(at, data_end, out);
}

/* By words, since a call of memcmp does not exist here. Both sides are aligned to 8 bytes. */
static __always_inline int same_address(const __u8* a, const __u8* b) {
    const __u64* left = (const __u64*)a;
    const __u64* right = (const __u64*)b;
    return left[0] == right[0] && left[1] == right[1];
}

#endif
