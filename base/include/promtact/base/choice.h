/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Copyright the Promtact authors */
/*
 * The decision function, shared by the simulator, the user-space relay and the BPF programs: plain
 * C, no header, no 128-bit multiply. FROZEN: its outputs are part of recorded runs and of the test
 * vectors in base/testdata/choice_vectors.txt. New needs append a purpose; nothing here changes.
 *
 * Every random decision is choose(seed, purpose, link, position): a pure function, never "the next
 * number" of a shared sequence. Adding a fault, a node or a feature therefore moves no other
 * decision.
 */
#ifndef PROMTACT_BASE_CHOICE_H
#define PROMTACT_BASE_CHOICE_H

typedef unsigned long long promtact_u64;
typedef unsigned int promtact_u32;

/* What a decision is for. Append only; a number is never reused. 1..255 belong to links, 256.. to
 * nodes and disks. */
enum promtact_purpose {
    PROMTACT_PURPOSE_LOSS = 1,         /* drop this packet or message */
    PROMTACT_PURPOSE_BURST_STATE = 2,  /* Gilbert-Elliott: change state */
    PROMTACT_PURPOSE_BURST_LOSS = 3,   /* Gilbert-Elliott: drop in the present state */
    PROMTACT_PURPOSE_DELAY = 4,        /* how long it travels */
    PROMTACT_PURPOSE_REORDER = 5,      /* hold it back */
    PROMTACT_PURPOSE_DUPLICATE = 6,    /* deliver twice */
    PROMTACT_PURPOSE_CORRUPT = 7,      /* damage it */
    PROMTACT_PURPOSE_CORRUPT_BIT = 8,  /* which bit */
    PROMTACT_PURPOSE_TRUNCATE = 9,     /* cut it short */
    PROMTACT_PURPOSE_ELECTION = 256,   /* a node's election timeout */
    PROMTACT_PURPOSE_CRASH = 257,      /* crash a node */
    PROMTACT_PURPOSE_DISK_FAULT = 258, /* which disk fault */
    PROMTACT_PURPOSE_DISK_TEAR = 259,  /* which atoms of a write persist */
    PROMTACT_PURPOSE_WORKLOAD = 260,   /* client operations */
    PROMTACT_PURPOSE_FAULT = 261       /* the seed of a fault's own choices, by its id */
};

#ifdef __cplusplus
#define PROMTACT_CHOICE_FN static inline constexpr
#define PROMTACT_CHOICE_CAST(type, value) static_cast<type>(value)
#else
#define PROMTACT_CHOICE_FN static inline __attribute__((always_inline, unused))
#define PROMTACT_CHOICE_CAST(type, value) ((type)(value))
#endif

/* 64-bit finaliser (Stafford's variant 13 of the MurmurHash3 finaliser; bijective). */
PROMTACT_CHOICE_FN promtact_u64 promtact_mix64(promtact_u64 x) {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return x;
}

/* What all decisions of one purpose on one link have in common. link: from << 32 | to. */
PROMTACT_CHOICE_FN promtact_u64
promtact_choose_stream(promtact_u64 seed, promtact_u32 purpose, promtact_u64 link) {
    promtact_u64 h = promtact_mix64(seed + 0x9e3779b97f4a7c15ULL);
    h = promtact_mix64(h + PROMTACT_CHOICE_CAST(promtact_u64, purpose) * 0xd1342543de82ef95ULL);
    return promtact_mix64(h + link * 0xaf251af3b0f025b5ULL);
}

/* 64 uniform bits for one decision of a stream. position: see promtact_position, or the packet
 * index. */
PROMTACT_CHOICE_FN promtact_u64 promtact_choose_at(promtact_u64 stream, promtact_u64 position) {
    return promtact_mix64(stream + position * 0xf1357aea2e62a9c5ULL);
}

PROMTACT_CHOICE_FN promtact_u64
promtact_choose(promtact_u64 seed, promtact_u32 purpose, promtact_u64 link, promtact_u64 position) {
    return promtact_choose_at(promtact_choose_stream(seed, purpose, link), position);
}

/* A directed link between two nodes as the link argument. */
PROMTACT_CHOICE_FN promtact_u64 promtact_link(promtact_u32 from, promtact_u32 to) {
    return PROMTACT_CHOICE_CAST(promtact_u64, from) << 32 | to;
}

/* The n-th message (ordinal) that a link carries at one step of virtual time. ordinal < 2^20, time
 * < 2^44. */
PROMTACT_CHOICE_FN promtact_u64 promtact_position(promtact_u64 time, promtact_u32 ordinal) {
    return time << 20 | (ordinal & 0xfffffU);
}

/* Uniform in [0, bound) by multiply-high of the upper 32 bits; 0 when bound is 0. Bias below 2^-32
 * * bound. */
PROMTACT_CHOICE_FN promtact_u32 promtact_bounded(promtact_u64 bits, promtact_u32 bound) {
    return PROMTACT_CHOICE_CAST(promtact_u32, (bits >> 32) * bound >> 32);
}

/* True with probability ppm / 1,000,000; never for 0, always from 1,000,000 on. */
PROMTACT_CHOICE_FN int promtact_chance(promtact_u64 bits, promtact_u32 ppm) {
    return promtact_bounded(bits, 1000000U) < ppm;
}

#undef PROMTACT_CHOICE_CAST

#endif
