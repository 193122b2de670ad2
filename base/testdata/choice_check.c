/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Promtact authors */
/* The frozen vectors against choice.h, as plain C11 and as C++20: choice_check <vectors>. */
#include <stdio.h>

#include <promtact/base/choice.h>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    FILE* file = fopen(argv[1], "r");
    if (!file) return 2;
    char line[512];
    int checked = 0;
    int wrong = 0;
    while (fgets(line, sizeof line, file)) {
        promtact_u64 seed, link, position, choose, mix;
        promtact_u32 purpose, bounded;
        if (line[0] == '#') continue;
        if (sscanf(
                line, "%llx %u %llx %llx -> %llx %llx %u", &seed, &purpose, &link, &position,
                &choose, &mix, &bounded) != 7) {
            fprintf(stderr, "not a vector: %s", line);
            return 2;
        }
        ++checked;
        if (promtact_choose(seed, purpose, link, position) != choose ||
            promtact_mix64(seed) != mix || promtact_bounded(choose, 1000000U) != bounded ||
            promtact_chance(choose, bounded) != 0 || promtact_chance(choose, bounded + 1) != 1) {
            fprintf(stderr, "wrong: %s", line);
            ++wrong;
        }
    }
    fclose(file);
    printf("%d vectors, %d wrong\n", checked, wrong);
    return checked >= 64 && wrong == 0 ? 0 : 1;
}
