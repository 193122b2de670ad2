// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace promtact::sim {

/// Leaves the free lists of the allocator in an order drawn from the seed: what is allocated next
/// lies elsewhere, in another order.
void shuffle_heap(std::uint64_t seed);

/// Fills with a byte what is allocated next of each size up to the largest. Units: bytes
void stir_heap(unsigned char fill, std::size_t largest);

} // namespace promtact::sim
