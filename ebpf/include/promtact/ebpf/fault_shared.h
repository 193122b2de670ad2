/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Copyright the Promtact authors */
/*
 * What the fault programs and their loader both know: the layout of the maps. Plain C with fixed
 * widths; one policy table is shared by the XDP and the TC program, so what is written governs
 * both.
 */
#ifndef PROMTACT_EBPF_FAULT_SHARED_H
#define PROMTACT_EBPF_FAULT_SHARED_H

#include <promtact/base/choice.h>

enum promtact_fault_flags {
    PROMTACT_FAULT_BLOCK_SOURCE = 1,      /* XDP: drop what comes from blocked_source */
    PROMTACT_FAULT_BLOCK_DESTINATION = 2, /* XDP: drop what goes to blocked_destination */
    PROMTACT_FAULT_REPAIR_CHECKSUM = 4    /* TC: damage is not detected by UDP or TCP */
};

/* One bank: everything the programs obey. Rates are parts per million. */
struct promtact_fault_policy {
    promtact_u64 seed;
    promtact_u64 xdp_link; /* link argument of promtact_choose for XDP decisions */
    promtact_u64 tc_link;  /* and for TC decisions */
    promtact_u32 xdp_drop_ppm;
    promtact_u32 tc_drop_ppm;
    promtact_u32 tc_corrupt_ppm;
    promtact_u32 flags;
    unsigned char blocked_source[16];      /* network order, IPv4 as ::ffff:a.b.c.d */
    unsigned char blocked_destination[16]; /* the same */
    unsigned char match_protocol;          /* rates concern this IP protocol only; 0 = every one */
    unsigned char reserved[7];
};

/*
 * Two banks and which of them is obeyed. The loader fills the other one completely and then stores
 * `active`: a packet sees the old policy or the new one, never a mixture.
 */
struct promtact_fault_table {
    promtact_u32 active; /* 0 or 1 */
    promtact_u32 reserved;
    promtact_u64 epoch; /* how many policies were written */
    struct promtact_fault_policy banks[2];
};

/* How many packets each hook has decided about: the position argument of the next decision. */
struct promtact_fault_state {
    promtact_u64 xdp_index;
    promtact_u64 tc_index;
};

/* Per hook: seen = passed + every kind of drop. A corrupted packet is also a passed one. */
enum promtact_fault_counter {
    PROMTACT_COUNT_XDP_SEEN,
    PROMTACT_COUNT_XDP_PASSED,
    PROMTACT_COUNT_XDP_LOST, /* by rate */
    PROMTACT_COUNT_XDP_BLOCKED_SOURCE,
    PROMTACT_COUNT_XDP_BLOCKED_DESTINATION,
    PROMTACT_COUNT_XDP_OTHER, /* of the passed: not IP, ARP, or not the matched protocol */
    PROMTACT_COUNT_TC_SEEN,
    PROMTACT_COUNT_TC_PASSED,
    PROMTACT_COUNT_TC_LOST,
    PROMTACT_COUNT_TC_CORRUPTED,     /* of the passed: one bit of the payload flipped */
    PROMTACT_COUNT_TC_INCORRUPTIBLE, /* of the passed: chosen, but without a payload to damage */
    PROMTACT_COUNT_TC_OTHER,
    PROMTACT_COUNT_ENTRIES
};

#ifdef __cplusplus
#define PROMTACT_FAULT_ASSERT(condition) static_assert(condition, #condition)
#else
#define PROMTACT_FAULT_ASSERT(condition) _Static_assert(condition, #condition)
#endif
PROMTACT_FAULT_ASSERT(sizeof(struct promtact_fault_policy) == 80);
PROMTACT_FAULT_ASSERT(sizeof(struct promtact_fault_table) == 176);
PROMTACT_FAULT_ASSERT(sizeof(struct promtact_fault_state) == 16);
PROMTACT_FAULT_ASSERT(PROMTACT_COUNT_ENTRIES == 12);

#endif
