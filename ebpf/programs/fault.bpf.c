/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the Promtact authors */
/*
 * The fault programs. promtact_xdp drops and partitions what arrives at a link, promtact_tc drops
 * and damages what leaves it. Both obey one policy table. Every decision is
 * promtact_choose(seed, purpose, link, index): which packets are hit is known beforehand and the
 * same in every run.
 *
 * Source: only uapi structs are used, so the object needs no BTF of the running kernel.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include <promtact/ebpf/fault_shared.h>

#include "packet.bpf.h"

#define HEADER_BYTES 256
#define CHECKSUM_UDP_OFFSET 6
#define CHECKSUM_TCP_OFFSET 16

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct promtact_fault_table);
} promtact_policy SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct promtact_fault_state);
} promtact_state SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, PROMTACT_COUNT_ENTRIES);
    __type(key, __u32);
    __type(value, __u64);
} promtact_counts SEC(".maps");

/* Runs of the programs on one CPU do not interrupt each other, so a plain increment is exact. */
static __always_inline void count(__u32 reason) {
    __u64* value = bpf_map_lookup_elem(&promtact_counts, &reason);
    if (value) *value += 1;
}

static __always_inline const struct promtact_fault_policy* active_policy(void) {
    const __u32 key = 0;
    struct promtact_fault_table* table = bpf_map_lookup_elem(&promtact_policy, &key);
    if (!table) return 0;
    return *(volatile __u32*)&table->active & 1 ? &table->banks[1] : &table->banks[0];
}

static __always_inline struct promtact_fault_state* state(void) {
    const __u32 key = 0;
    return bpf_map_lookup_elem(&promtact_state, &key);
}

static __always_inline int
rates_concern(const struct promtact_fault_policy* policy, const struct packet* packet) {
    if (!packet->is_ip) return 0;
    return policy->match_protocol == 0 || policy->match_protocol == packet->protocol;
}

SEC("xdp")
int promtact_xdp(struct xdp_md* context) {
    void* data = (void*)(long)context->data;
    void* data_end = (void*)(long)context->data_end;
    const struct promtact_fault_policy* policy = active_policy();
    struct promtact_fault_state* indexes = state();
    struct packet packet = {};
    promtact_u64 index;
    if (!policy || !indexes) return XDP_PASS;

    count(PROMTACT_COUNT_XDP_SEEN);
    parse(data, data_end, &packet);
    if (packet.has_addresses && policy->flags & PROMTACT_FAULT_BLOCK_SOURCE &&
        same_address(packet.source, policy->blocked_source)) {
        count(PROMTACT_COUNT_XDP_BLOCKED_SOURCE);
        return XDP_DROP;
    }
    if (packet.has_addresses && policy->flags & PROMTACT_FAULT_BLOCK_DESTINATION &&
        same_address(packet.destination, policy->blocked_destination)) {
        count(PROMTACT_COUNT_XDP_BLOCKED_DESTINATION);
        return XDP_DROP;
    }
    if (!rates_concern(policy, &packet)) {
        count(PROMTACT_COUNT_XDP_OTHER);
        count(PROMTACT_COUNT_XDP_PASSED);
        return XDP_PASS;
    }
    index = __sync_fetch_and_add(&indexes->xdp_index, 1);
    if (promtact_chance(
            promtact_choose(policy->seed, PROMTACT_PURPOSE_LOSS, policy->xdp_link, index),
            policy->xdp_drop_ppm)) {
        count(PROMTACT_COUNT_XDP_LOST);
        return XDP_DROP;
    }
    count(PROMTACT_COUNT_XDP_PASSED);
    return XDP_PASS;
}

/* Offset of the payload behind the transport header; 0 when the packet has no payload. */
static __always_inline __u32 payload_offset(struct __sk_buff* skb, const struct packet* packet) {
    __u32 offset = packet->transport;
    if (packet->is_later_fragment) return offset;
    if (packet->protocol == IPPROTO_UDP) return offset + sizeof(struct udphdr);
    if (packet->protocol == IPPROTO_TCP) {
        __u8 words = 0;
        if (bpf_skb_load_bytes(skb, offset + 12, &words, 1)) return 0;
        return offset + (words >> 4) * 4;
    }
    return offset;
}

static __always_inline __u32 checksum_offset(const struct packet* packet) {
    if (packet->is_later_fragment) return 0;
    if (packet->protocol == IPPROTO_UDP) return packet->transport + CHECKSUM_UDP_OFFSET;
    if (packet->protocol == IPPROTO_TCP) return packet->transport + CHECKSUM_TCP_OFFSET;
    return 0;
}

/*
 * Flips one bit of the payload. With repair the checksum is brought along, so that no receiver
 * notices. The checksum adds up 16-bit words counted from the transport header, whose length is
 * even: a flipped bit lies in the high or the low byte of its word.
 */
static __always_inline int
flip_bit(struct __sk_buff* skb, const struct packet* packet, promtact_u64 bits, int repair) {
    const __u32 start = payload_offset(skb, packet);
    const __u32 end = packet->end < skb->len ? packet->end : skb->len;
    const __u32 checksum = checksum_offset(packet);
    __u32 bit, at;
    __u8 before, after;
    if (start == 0 || end <= start || end - start > 0xffff) return 0;
    bit = promtact_bounded(bits, (end - start) * 8);
    at = start + bit / 8;
    if (bpf_skb_load_bytes(skb, at, &before, 1)) return 0;
    after = before ^ (__u8)(1 << (bit & 7));
    if (bpf_skb_store_bytes(skb, at, &after, 1, 0)) return 0;
    if (repair && checksum) {
        const int low = (at - packet->transport) & 1;
        const __u64 from = low ? bpf_htons(before) : bpf_htons((__u16)(before << 8));
        const __u64 to = low ? bpf_htons(after) : bpf_htons((__u16)(after << 8));
        const __u64 flags = packet->protocol == IPPROTO_UDP ? BPF_F_MARK_MANGLED_0 | 2 : 2;
        bpf_l4_csum_replace(skb, checksum, from, to, flags);
    }
    return 1;
}

static __always_inline void corrupt(
    struct __sk_buff* skb, const struct promtact_fault_policy* policy, const struct packet* packet,
    promtact_u64 index) {
    const promtact_u64 bits =
        promtact_choose(policy->seed, PROMTACT_PURPOSE_CORRUPT_BIT, policy->tc_link, index);
    const int repair = (policy->flags & PROMTACT_FAULT_REPAIR_CHECKSUM) != 0;
    count(
        flip_bit(skb, packet, bits, repair) ? PROMTACT_COUNT_TC_CORRUPTED
                                            : PROMTACT_COUNT_TC_INCORRUPTIBLE);
}

/* Makes the headers readable: the stack may keep all of a packet in fragments. */
static __always_inline void pull_headers(struct __sk_buff* skb) {
    const __u32 wanted = skb->len < HEADER_BYTES ? skb->len : HEADER_BYTES;
    if (skb->data_end - skb->data < wanted) bpf_skb_pull_data(skb, wanted);
}

/*
 * -1 means "no opinion" both to tcx and to clsact: programs of others behind this one still run.
 */
#define NO_OPINION TC_ACT_UNSPEC

SEC("tc")
int promtact_tc(struct __sk_buff* skb) {
    const struct promtact_fault_policy* policy = active_policy();
    struct promtact_fault_state* indexes = state();
    struct packet packet = {};
    promtact_u64 index;
    if (!policy || !indexes) return NO_OPINION;

    count(PROMTACT_COUNT_TC_SEEN);
    pull_headers(skb);
    parse((void*)(long)skb->data, (void*)(long)skb->data_end, &packet);
    if (!rates_concern(policy, &packet)) {
        count(PROMTACT_COUNT_TC_OTHER);
        count(PROMTACT_COUNT_TC_PASSED);
        return NO_OPINION;
    }
    index = __sync_fetch_and_add(&indexes->tc_index, 1);
    if (promtact_chance(
            promtact_choose(policy->seed, PROMTACT_PURPOSE_LOSS, policy->tc_link, index),
            policy->tc_drop_ppm)) {
        count(PROMTACT_COUNT_TC_LOST);
        return TC_ACT_SHOT;
    }
    if (promtact_chance(
            promtact_choose(policy->seed, PROMTACT_PURPOSE_CORRUPT, policy->tc_link, index),
            policy->tc_corrupt_ppm))
        corrupt(skb, policy, &packet, index);
    count(PROMTACT_COUNT_TC_PASSED);
    return NO_OPINION;
}

/*
 * Reads behind the end of the packet without having looked. Never loaded except on purpose, to show
 * that this kernel's verifier refuses what it must refuse.
 */
SEC("?xdp")
int promtact_unsafe(struct xdp_md* context) {
    const __u8* data = (const __u8*)(long)context->data;
    return data[64] == 0 ? XDP_DROP : XDP_PASS;
}

char promtact_license[] SEC("license") = "GPL";
