/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Copyright the Promtact authors */
/* Every function of choice.h in one BPF program, to see that it compiles to plain instructions. */
#include <promtact/base/choice.h>

__attribute__((section("socket"), used)) int decide(void* context) {
    const promtact_u64* in = (const promtact_u64*)context;
    const promtact_u64 link = promtact_link((promtact_u32)in[0], (promtact_u32)in[1]);
    const promtact_u64 at = promtact_position(in[2], (promtact_u32)in[3]);
    const promtact_u64 bits = promtact_choose(in[4], PROMTACT_PURPOSE_LOSS, link, at);
    return promtact_chance(bits, 100000U) + (int)promtact_bounded(bits, 7U);
}
