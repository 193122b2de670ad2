// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <promtact/base/assert.hpp>
#include <promtact/wal/fault_storage.hpp>
#include <promtact/wal/memory_storage.hpp>

namespace promtact::wal {
namespace {

/// What 200 writes of a file are answered when one in four fails.
std::vector<std::int64_t> answers(std::uint64_t seed) {
    disk::Pool pool(4096);
    MemoryStorage disk(pool, disk::Image{}, {.order = MemoryStorageOptions::Order::fifo});
    FaultStorage storage(disk, seed);
    storage.add({.kind = IoKind::write, .count = ~std::uint64_t{0}, .probability = Ppm{250'000}});
    std::vector<std::byte> block(4096);
    std::vector<std::int64_t> results;
    const auto run = [&](IoOp op) {
        PROMTACT_ASSERT(storage.submit(op));
        std::array<IoDone, 1> done{};
        while (storage.poll(done) == 0) {
        }
        return done[0].result;
    };
    run({.id = 1, .kind = IoKind::create, .file = 1, .name = "a"});
    for (std::uint64_t i = 0; i < 200; ++i)
        results.push_back(run({.id = 2 + i, .kind = IoKind::write, .file = 1, .data = block}));
    return results;
}

TEST(FaultStorage, TheSameSeedStrikesTheSameRequests) {
    const std::vector<std::int64_t> once = answers(7);

    EXPECT_EQ(once, answers(7));
    EXPECT_NE(once, answers(8));
    EXPECT_THAT(
        once,
        ::testing::Contains(-5).Times(::testing::AllOf(::testing::Ge(25), ::testing::Le(75))));
}

} // namespace
} // namespace promtact::wal
