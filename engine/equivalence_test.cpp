// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <gtest/gtest.h>

#include <promtact/engine/testing/equivalence.hpp>

namespace promtact::engine::testing {
namespace {

TEST(EngineEquivalence, AgreesWithTheReferenceAtEveryStep) {
    for (const Shape& shape : shapes()) {
        std::uint64_t delivered = 0;
        for (std::uint64_t seed = 1; seed <= 24; ++seed) {
            const auto difference = first_difference(shape, seed, seed, delivered);
            ASSERT_FALSE(difference) << *difference;
        }
        EXPECT_GT(delivered, 24 * 100U) << shape.name;
    }
}

TEST(EngineEquivalence, TheComparisonHasTeeth) {
    for (const Shape& shape : shapes()) {
        if (shape.drop_ppm == 0 && shape.max_delay == 0) continue; // no chance, no difference
        std::uint64_t delivered = 0;
        const auto difference = first_difference(shape, 7, 8, delivered);
        ASSERT_TRUE(difference) << shape.name;
        EXPECT_NE(difference->find("traces differ"), std::string::npos) << *difference;
    }
}

} // namespace
} // namespace promtact::engine::testing
