// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <cstdint>

#include <gtest/gtest.h>

#include <promtact/uring/aligned_buffer.hpp>

namespace promtact::uring {
namespace {

TEST(AlignedBuffer, SlotsArePageAlignedZeroedAndDisjoint) {
    auto buffer = AlignedBuffer::allocate(3, 8192);
    ASSERT_TRUE(buffer);

    for (std::uint32_t i = 0; i < 3; ++i) {
        const std::span<std::byte> slot = buffer->slot(i);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot.data()) % 4096, 0U);
        EXPECT_EQ(slot.size(), 8192U);
        for (const std::byte byte : slot)
            ASSERT_EQ(byte, std::byte{0});
        slot[0] = std::byte{0xff};
        slot[8191] = std::byte{0xff};
    }
    EXPECT_EQ(buffer->all().size(), 3U * 8192U);
}

TEST(AlignedBuffer, LendsEachSlotOnceUntilItComesBack) {
    auto buffer = AlignedBuffer::allocate(2, 4096);
    ASSERT_TRUE(buffer);
    const std::uint32_t first = buffer->take();
    const std::uint32_t second = buffer->take();
    EXPECT_NE(first, second);
    EXPECT_EQ(buffer->free_slots(), 0U);
    EXPECT_DEATH(static_cast<void>(buffer->take()), "free_.empty");

    buffer->give(first);

    EXPECT_EQ(buffer->take(), first);
    buffer->give(first);
    EXPECT_DEATH(buffer->give(first), "lent_");
}

TEST(AlignedBuffer, RefusesMoreThanTheKernelRegisters) {
    const auto refused = AlignedBuffer::allocate(300'000, 4096);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid_argument);
    EXPECT_DEATH(static_cast<void>(AlignedBuffer::allocate(1, 512)), "block_bytes");
}

TEST(AlignedBuffer, MovedFromOwnsNothing) {
    auto buffer = AlignedBuffer::allocate(1, 4096);
    ASSERT_TRUE(buffer);

    AlignedBuffer moved = std::move(*buffer);

    EXPECT_EQ(buffer->slots(), 0U);
    EXPECT_EQ(moved.slots(), 1U);
    moved.abandon(); // leaks one page on purpose
    EXPECT_EQ(moved.all().size(), 0U);
}

} // namespace
} // namespace promtact::uring
