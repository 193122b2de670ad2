// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Named choice streams: the typed face of the frozen decision function in choice.h. A choice is a
// pure function of (seed, purpose, link, position); there is no generator state, so adding a
// consumer moves nobody else's choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <promtact/base/assert.hpp>
#include <promtact/base/choice.h>
#include <promtact/base/units.hpp>

namespace promtact {

/// What a choice is for. Values are those of choice.h and never change.
enum class Purpose : std::uint32_t {
    loss = PROMTACT_PURPOSE_LOSS,
    burst_state = PROMTACT_PURPOSE_BURST_STATE,
    burst_loss = PROMTACT_PURPOSE_BURST_LOSS,
    delay = PROMTACT_PURPOSE_DELAY,
    reorder = PROMTACT_PURPOSE_REORDER,
    duplicate = PROMTACT_PURPOSE_DUPLICATE,
    corrupt = PROMTACT_PURPOSE_CORRUPT,
    corrupt_bit = PROMTACT_PURPOSE_CORRUPT_BIT,
    truncate = PROMTACT_PURPOSE_TRUNCATE,
    election = PROMTACT_PURPOSE_ELECTION,
    crash = PROMTACT_PURPOSE_CRASH,
    disk_fault = PROMTACT_PURPOSE_DISK_FAULT,
    disk_tear = PROMTACT_PURPOSE_DISK_TEAR,
    workload = PROMTACT_PURPOSE_WORKLOAD,
    fault = PROMTACT_PURPOSE_FAULT,
};

// The C header is shared with programs that carry their own integer types.
static_assert(sizeof(promtact_u64) == 8);
static_assert(sizeof(promtact_u32) == 4);

/// A purpose of a program built on Promtact, apart from all of ours, present and future.
/// Requires: number < 2^31
constexpr Purpose user_purpose(std::uint32_t number) noexcept {
    PROMTACT_ASSERT(number < (1U << 31));
    return Purpose{(1U << 31) | number};
}

/// Where on a link or node a choice happens.
struct ChoicePosition {
    std::uint64_t value = 0;

    /// The ordinal-th event at a step of virtual time.
    /// Requires: time < 2^44, ordinal < 2^20
    static constexpr ChoicePosition at(std::uint64_t time, std::uint32_t ordinal) noexcept {
        PROMTACT_ASSERT(time < (std::uint64_t{1} << 44));
        PROMTACT_ASSERT(ordinal < (1U << 20));
        return {promtact_position(time, ordinal)};
    }
    /// The index-th packet of a link: what the kernel uses.
    static constexpr ChoicePosition index(std::uint64_t index) noexcept { return {index}; }
};

/// All choices of one purpose on one link. Copy it freely; it is one number.
class ChoiceStream {
  public:
    constexpr ChoiceStream(std::uint64_t seed, Purpose purpose, std::uint64_t link) noexcept
        : stream_(promtact_choose_stream(seed, static_cast<std::uint32_t>(purpose), link)) {}
    /// The directed link between two nodes.
    static constexpr ChoiceStream
    on_link(std::uint64_t seed, Purpose purpose, std::uint32_t from, std::uint32_t to) noexcept {
        return {seed, purpose, promtact_link(from, to)};
    }

    /// 64 uniform bits.
    [[nodiscard]] constexpr std::uint64_t bits(ChoicePosition at) const noexcept {
        return promtact_choose_at(stream_, at.value);
    }

    /// True with the given probability; the same answer as promtact_chance in the kernel.
    [[nodiscard]] constexpr bool chance(ChoicePosition at, Ppm probability) const noexcept {
        return promtact_chance(bits(at), probability.value) != 0;
    }

    /// Uniform in [0, bound), the same answer as promtact_bounded in the kernel. Its bias is below
    /// bound / 2^32: use it where both worlds must agree. Requires: bound > 0
    [[nodiscard]] constexpr std::uint32_t
    below_shared(ChoicePosition at, std::uint32_t bound) const noexcept {
        PROMTACT_ASSERT(bound > 0);
        return promtact_bounded(bits(at), bound);
    }

    /// Uniform in [0, bound) without bias, for any bound. Requires: bound > 0
    [[nodiscard]] constexpr std::uint64_t
    below(ChoicePosition at, std::uint64_t bound) const noexcept {
        PROMTACT_ASSERT(bound > 0);
        return unbiased(bits(at), bound);
    }

    /// Uniform in [low, high]. Requires: low <= high
    [[nodiscard]] constexpr std::uint64_t
    between(ChoicePosition at, std::uint64_t low, std::uint64_t high) const noexcept {
        PROMTACT_ASSERT(low <= high);
        const std::uint64_t width = high - low;
        if (width == ~std::uint64_t{0}) return bits(at);
        return low + below(at, width + 1);
    }

    /// One of the items, each equally likely. Requires: !items.empty()
    template <class T, std::size_t Extent>
    [[nodiscard]] constexpr T& pick(ChoicePosition at, std::span<T, Extent> items) const noexcept {
        PROMTACT_ASSERT(!items.empty());
        return items[static_cast<std::size_t>(below(at, items.size()))];
    }

  private:
    __extension__ using Wide = unsigned __int128;

    // Lemire's multiply-high with rejection. The first draw serves unless its low half falls under
    // 2^64 mod bound; further draws are successive states of a Weyl sequence through the same
    // finaliser. Each try fails with probability below one half, so the bound is never met.
    [[nodiscard]] static constexpr std::uint64_t
    unbiased(std::uint64_t draw, std::uint64_t bound) noexcept {
        constexpr int tries_max = 1'000;
        for (int attempt = 0; attempt < tries_max; ++attempt) {
            const Wide product = static_cast<Wide>(draw) * bound;
            const auto low = static_cast<std::uint64_t>(product);
            // The remainder is below the bound: it is seldom worth its division.
            if (low >= bound || low >= (std::uint64_t{0} - bound) % bound)
                return static_cast<std::uint64_t>(product >> 64);
            draw = promtact_mix64(draw + 0x9e3779b97f4a7c15ULL);
        }
        PROMTACT_UNREACHABLE();
    }

    std::uint64_t stream_;
};

} // namespace promtact
