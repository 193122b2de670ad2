// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/base/numbers.hpp>

#include "test_paths.hpp"

namespace promtact {
namespace {

struct Vector {
    std::uint64_t seed = 0;
    std::uint64_t purpose = 0;
    std::uint64_t link = 0;
    std::uint64_t position = 0;
    std::uint64_t choose = 0;
    std::uint64_t mix = 0;
    std::uint64_t bounded = 0;
};

std::vector<Vector> vectors() {
    std::ifstream file(test_source_path("base/testdata/choice_vectors.txt"));
    std::vector<Vector> all;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line.starts_with('#')) continue;
        std::istringstream words(line);
        std::array<std::string, 8> word{};
        for (std::string& w : word)
            words >> w;
        EXPECT_EQ(word[4], "->") << line;
        const auto number = [&line](const std::string& text) {
            const Result<std::uint64_t> value = parse_u64(text);
            EXPECT_TRUE(value) << line;
            return value ? *value : 0;
        };
        all.push_back(
            {number(word[0]), number(word[1]), number(word[2]), number(word[3]), number(word[5]),
             number(word[6]), number(word[7])});
    }
    return all;
}

TEST(Choice, FrozenVectorsHold) {
    const std::vector<Vector> all = vectors();
    ASSERT_GE(all.size(), 64U);
    for (const Vector& v : all) {
        const ChoiceStream stream(v.seed, Purpose{static_cast<std::uint32_t>(v.purpose)}, v.link);
        const ChoicePosition at{v.position};

        EXPECT_EQ(stream.bits(at), v.choose);
        EXPECT_EQ(promtact_mix64(v.seed), v.mix);
        EXPECT_EQ(stream.below_shared(at, 1'000'000), v.bounded);
    }
}

TEST(Choice, VectorsCoverEveryPurpose) {
    const std::vector<Vector> all = vectors();
    for (const Purpose purpose :
         {Purpose::loss, Purpose::burst_state, Purpose::burst_loss, Purpose::delay,
          Purpose::reorder, Purpose::duplicate, Purpose::corrupt, Purpose::corrupt_bit,
          Purpose::truncate, Purpose::election, Purpose::crash, Purpose::disk_fault,
          Purpose::disk_tear, Purpose::workload}) {
        const auto uses = [purpose](const Vector& v) {
            return v.purpose == static_cast<std::uint32_t>(purpose);
        };
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), uses))
            << static_cast<std::uint32_t>(purpose);
    }
}

TEST(Choice, IsAConstantExpression) {
    constexpr ChoiceStream stream = ChoiceStream::on_link(0x4A2C, Purpose::loss, 1, 2);
    constexpr std::uint64_t bits = stream.bits(ChoicePosition::at(200, 0));

    EXPECT_EQ(bits, promtact_choose(0x4A2C, PROMTACT_PURPOSE_LOSS, (1ULL << 32) | 2, 200ULL << 20));
}

TEST(Choice, ChanceIsNeverAtZeroAndAlwaysAtOne) {
    const ChoiceStream stream(1, Purpose::loss, 0);
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        EXPECT_FALSE(stream.chance(ChoicePosition::index(i), 0_ppm));
        EXPECT_TRUE(stream.chance(ChoicePosition::index(i), Ppm(Ppm::one)));
    }
}

TEST(Choice, RangesStayInsideAndReachBothEnds) {
    const ChoiceStream stream(7, Purpose::election, 3);
    std::array<bool, 6> seen{};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::uint64_t value = stream.between(ChoicePosition::index(i), 10, 15);
        ASSERT_GE(value, 10U);
        ASSERT_LE(value, 15U);
        seen[value - 10] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 6);
    EXPECT_EQ(stream.between({}, 4, 4), 4U);
    EXPECT_EQ(stream.between({}, 0, ~std::uint64_t{0}), stream.bits({}));
    EXPECT_EQ(stream.below({}, 1), 0U);
}

TEST(Choice, LargeBoundsAreUnbiasedWhereMultiplyHighAloneIsNot) {
    // With bound = 3 * 2^62 plain multiply-high would give half of its values twice: a third of
    // the range would be hit by half of the draws.
    constexpr std::uint64_t bound = std::uint64_t{3} << 62;
    const ChoiceStream stream(11, Purpose::workload, 0);
    std::array<std::uint64_t, 3> residues{};
    std::uint64_t naive_zero = 0;
    constexpr std::uint64_t draws = 300'000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        const ChoicePosition at = ChoicePosition::index(i);
        ++residues[stream.below(at, bound) % 3];
        __extension__ using Wide = unsigned __int128;
        const auto naive =
            static_cast<std::uint64_t>(static_cast<Wide>(stream.bits(at)) * bound >> 64);
        naive_zero += naive % 3 == 0 ? 1 : 0;
    }
    for (const std::uint64_t count : residues) {
        EXPECT_GT(count, draws / 3 - 1500);
        EXPECT_LT(count, draws / 3 + 1500);
    }
    EXPECT_GT(naive_zero, draws / 3 + 10'000) << "the control lost its bias";
}

TEST(Choice, PickServesConstAndMutableItems) {
    const std::array<int, 3> items{10, 20, 30};
    const ChoiceStream stream(5, user_purpose(9), 0);

    const int picked = stream.pick(ChoicePosition::index(4), std::span(items));

    EXPECT_EQ(picked % 10, 0);
}

TEST(Choice, BadArgumentsAbort) {
    const ChoiceStream stream(1, Purpose::loss, 0);
    const std::span<const int> nothing;

    EXPECT_DEATH(static_cast<void>(stream.below({}, 0)), "assertion failed: bound > 0");
    EXPECT_DEATH(static_cast<void>(stream.between({}, 2, 1)), "assertion failed: low <= high");
    EXPECT_DEATH(static_cast<void>(stream.pick({}, nothing)), "assertion failed: !items.empty");
    EXPECT_DEATH(
        static_cast<void>(ChoicePosition::at(std::uint64_t{1} << 44, 0)), "assertion failed: time");
    EXPECT_DEATH(static_cast<void>(ChoicePosition::at(0, 1U << 20)), "assertion failed: ordinal");
}

} // namespace
} // namespace promtact
