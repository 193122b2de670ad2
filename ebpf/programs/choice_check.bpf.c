/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright the Promtact authors */
/*
 * Test support: computes decisions inside the kernel, so that the frozen vectors of the decision
 * function are checked against the code the BPF compiler made of it. The frame is an array of
 * questions; the answers are written into it.
 */
/* The helpers need the types of linux/bpf.h before them. */
// clang-format off
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
// clang-format on

#include "choice_check.h"

#include <promtact/base/choice.h>

SEC("xdp")
int promtact_choose_check(struct xdp_md* context) {
    struct choice_question* question = (void*)(long)context->data;
    void* end = (void*)(long)context->data_end;
    if ((void*)(question + 1) > end) return XDP_DROP;
    question->chosen =
        promtact_choose(question->seed, question->purpose, question->link, question->position);
    question->mixed = promtact_mix64(question->seed);
    question->bounded = promtact_bounded(question->chosen, 1000000);
    return XDP_PASS;
}

char choice_check_license[] SEC("license") = "GPL";
