// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A thousand seeds of each of the seven shapes, compared at every step.
#include <gtest/gtest.h>

#include <promtact/engine/testing/equivalence.hpp>

namespace promtact::engine::testing {
namespace {

TEST(EngineEquivalenceCampaign, SevenThousandPairedRunsAgree) {
    for (const Shape& shape : shapes()) {
        std::uint64_t delivered = 0;
        for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
            const auto difference = first_difference(
                shape, seed * 0x9e3779b97f4a7c15ULL, seed * 0x9e3779b97f4a7c15ULL, delivered);
            ASSERT_FALSE(difference) << *difference;
        }
        RecordProperty(shape.name, std::to_string(delivered));
        EXPECT_GT(delivered, 1000 * 100U) << shape.name;
    }
}

} // namespace
} // namespace promtact::engine::testing
