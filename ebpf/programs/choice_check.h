/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Copyright the Promtact authors */
/* One line of the vectors file, as question and answer. */
#ifndef PROMTACT_EBPF_CHOICE_CHECK_H
#define PROMTACT_EBPF_CHOICE_CHECK_H

#include <promtact/base/choice.h>

struct choice_question {
    promtact_u64 seed;
    promtact_u64 link;
    promtact_u64 position;
    promtact_u64 chosen;
    promtact_u64 mixed;
    promtact_u32 purpose;
    promtact_u32 bounded;
};

#endif
