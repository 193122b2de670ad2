// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The pure part of Promtact: no library to link. Prints which of the first twenty messages of one
// link are lost at one in four, twice: the decisions are a function of seed and message, so the
// second line repeats the first.
#include <cstdint>
#include <cstdio>

#include <promtact/base/choice.h>
#include <promtact/base/result.hpp>

namespace {

constexpr std::uint64_t seed = 0x4A2C;
constexpr std::uint32_t loss_ppm = 250'000;

promtact::Result<std::uint32_t> count_lost(std::uint32_t messages) {
    if (messages == 0) {
        return promtact::Error{promtact::Errc::invalid_argument, 0, "no messages to decide"};
    }
    std::uint32_t lost = 0;
    for (std::uint32_t i = 0; i < messages; ++i) {
        const std::uint64_t bits =
            promtact_choose(seed, PROMTACT_PURPOSE_LOSS, promtact_link(1, 2), i);
        const bool drop = promtact_chance(bits, loss_ppm) != 0;
        std::putchar(drop ? 'x' : '.');
        lost += drop ? 1U : 0U;
    }
    std::putchar('\n');
    return lost;
}

} // namespace

int main() {
    const promtact::Result<std::uint32_t> first = count_lost(20);
    const promtact::Result<std::uint32_t> second = count_lost(20);
    const promtact::Result<std::uint32_t> refused = count_lost(0);
    if (!first || !second || refused) return 1;
    std::printf("lost %u of 20, then %u of 20\n", *first, *second);
    return *first == *second && *first > 0 && *first < 20 ? 0 : 1;
}
