// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <concepts>

#include <gtest/gtest.h>

#include <promtact/base/strong_id.hpp>

namespace promtact {
namespace {

using Apple = StrongId<struct AppleTag>;
using Pear = StrongId<struct PearTag>;
using Small = StrongId<struct SmallTag, std::uint8_t>;

template <class A, class B>
concept Addable = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept Subtractable = requires(A a, B b) {
    a - b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
    a < b;
};

TEST(StrongId, MovesByACountAndMeasuresADistance) {
    constexpr Apple first(7);

    EXPECT_EQ((first + 3).value(), 10U);
    EXPECT_EQ((first - 7).value(), 0U);
    EXPECT_EQ(first + 3 - first, 3U);
    EXPECT_LT(first, first + 1);
    EXPECT_EQ(Apple{}, Apple(0));
}

TEST(StrongId, OffersNoOtherArithmeticAndDoesNotMix) {
    static_assert(Addable<Apple, std::uint64_t>);
    static_assert(!Addable<Apple, Apple>);
    static_assert(!Addable<std::uint64_t, Apple>);
    static_assert(!Addable<Apple, Pear>);
    static_assert(Subtractable<Apple, Apple>);
    static_assert(!Subtractable<Apple, Pear>);
    static_assert(Comparable<Apple, Apple>);
    static_assert(!Comparable<Apple, Pear>);
    static_assert(!Comparable<Apple, std::uint64_t>);
    static_assert(!std::convertible_to<Apple, std::uint64_t>);
    static_assert(!std::convertible_to<std::uint64_t, Apple>);
    static_assert(sizeof(Small) == 1);
}

TEST(StrongId, LeavingTheRangeAborts) {
    EXPECT_DEATH(static_cast<void>(Small(250) + 6), "assertion failed: count <=");
    EXPECT_DEATH(static_cast<void>(Apple(2) - 3), "assertion failed: count <=");
    EXPECT_DEATH(static_cast<void>(Apple(2) - Apple(3)), "assertion failed: later.value_ >=");
    EXPECT_EQ((Small(250) + 5).value(), 255U);
}

} // namespace
} // namespace promtact
