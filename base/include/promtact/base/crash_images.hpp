// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Enumerates what a crash may leave of a DiskModel: every subset of up to 14 pending atoms, above
// that prefixes, suffixes, single atoms, all but one, pairs, and seeded random subsets.
#pragma once

#include <cstddef>
#include <cstdint>

#include <promtact/base/choice.hpp>
#include <promtact/base/disk_model.hpp>

namespace promtact::disk {

struct CrashOptions {
    std::uint32_t exhaustive_max = 14; // pending atoms up to which every subset is visited, <= 24
    std::uint32_t pairs_max = 64;      // pending atoms up to which all pairs are visited
    std::uint32_t random = 4096;       // subsets chosen by the seed
    std::uint64_t seed = 0;
    /// Only subsets with a pending atom from this one on: those without were visited before.
    std::size_t fresh_from = 0;
};

/// Calls visit(const Image&) for each. Returns how many it visited; some may be equal.
/// Lifetime: the image is reused; copy what is to be kept.
template <class Visit>
std::uint64_t crash_images(const DiskModel& model, const CrashOptions& options, Visit&& visit) {
    PROMTACT_ASSERT(options.exhaustive_max <= 24);
    const std::size_t count = model.pending().size();
    std::uint64_t visited = 0;
    Image image;
    const auto emit = [&](auto keep) {
        bool fresh = options.fresh_from == 0;
        for (std::size_t i = options.fresh_from; i < count && !fresh; ++i)
            fresh = keep(i);
        if (!fresh) return;
        model.crash(image, keep);
        visit(static_cast<const Image&>(image));
        ++visited;
    };
    if (count <= options.exhaustive_max) {
        for (std::uint64_t mask = 0; mask < std::uint64_t{1} << count; ++mask)
            emit([mask](std::size_t i) { return (mask >> i & 1U) != 0; });
        return visited;
    }
    for (std::size_t cut = 0; cut <= count; ++cut) {
        emit([cut](std::size_t i) { return i < cut; });
        emit([cut](std::size_t i) { return i >= cut; });
    }
    for (std::size_t one = 0; one < count; ++one) {
        emit([one](std::size_t i) { return i == one; });
        emit([one](std::size_t i) { return i != one; });
    }
    for (std::size_t a = 0; a < count && count <= options.pairs_max; ++a) {
        for (std::size_t b = a + 1; b < count; ++b)
            emit([a, b](std::size_t i) { return i == a || i == b; });
    }
    const ChoiceStream choose(options.seed, Purpose::disk_tear, 0);
    for (std::uint32_t n = 0; n < options.random; ++n) {
        const std::uint64_t base = std::uint64_t{n} << 32;
        emit([&choose, base](std::size_t i) {
            return (choose.bits(ChoicePosition::index(base + i / 64)) >> (i % 64) & 1U) != 0;
        });
    }
    return visited;
}

} // namespace promtact::disk
