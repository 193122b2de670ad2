// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <promtact/base/choice.hpp>

#include "heap_shuffle_internal.hpp"

namespace promtact::sim {
namespace {

constexpr std::size_t blocks_of_a_size = 96;
constexpr std::size_t size_step = 16;
constexpr std::size_t size_max = 1024;

} // namespace

void shuffle_heap(std::uint64_t seed) {
    const ChoiceStream stream(seed, user_purpose(0), 0);
    for (std::size_t size = size_step; size <= size_max; size += size_step) {
        // Every second block stays until the others are free: neighbours that are free would grow
        // together and lose their order.
        std::vector<std::unique_ptr<unsigned char[]>> blocks;
        std::vector<std::unique_ptr<unsigned char[]>> between;
        for (std::size_t i = 0; i < blocks_of_a_size; ++i) {
            blocks.push_back(std::make_unique<unsigned char[]>(size));
            between.push_back(std::make_unique<unsigned char[]>(size));
        }
        for (std::size_t left = blocks.size(); left > 1; --left) {
            const std::uint64_t at = stream.between({size << 20 | left}, 0, left - 1);
            std::swap(blocks[left - 1], blocks[static_cast<std::size_t>(at)]);
        }
        blocks.clear();
    }
}

void stir_heap(unsigned char fill, std::size_t largest) {
    for (std::size_t size = size_step; size <= largest; size += size_step) {
        const auto block = std::make_unique_for_overwrite<unsigned char[]>(size);
        std::memset(block.get(), fill, size);
        // What is written just before it is freed may be left out: this reads it.
        asm volatile("" : : "r"(block.get()) : "memory");
    }
}

} // namespace promtact::sim
