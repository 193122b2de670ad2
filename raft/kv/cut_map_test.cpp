// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <promtact/base/choice.hpp>
#include <promtact/kv/cut_map.hpp>

namespace promtact::kv {
namespace {

using Map = CutMap<std::string, int>;
using Model = std::map<std::string, int>;

std::uint32_t draw(std::uint64_t round, std::uint64_t place, std::uint32_t bound) {
    return promtact_bounded(promtact_choose(3, PROMTACT_PURPOSE_WORKLOAD, round, place), bound);
}

/// One change, alike in both.
void change(Map& map, Model& model, std::uint64_t round, std::uint64_t place) {
    const std::string key(1, static_cast<char>('a' + draw(round, 3 * place, 12)));
    const int value = static_cast<int>(draw(round, 3 * place + 1, 1000));
    if (draw(round, 3 * place + 2, 3) == 0) {
        if (model.erase(key) > 0) map.erase(key);
        return;
    }
    model[key] = value;
    if (int* there = map.change(key)) {
        *there = value;
    } else {
        map.insert(key, value);
    }
}

TEST(CutMap, TheCutIsTheMapOfItsMomentWhateverChangesMeanwhile) {
    std::size_t most_kept = 0;
    for (std::uint64_t round = 0; round < 2000; ++round) {
        Map map;
        Model model;
        std::uint64_t place = 0;
        while (place < 15)
            change(map, model, round, ++place);
        const Model expected = model;
        map.begin_cut();
        Model seen;
        std::string last;
        while (true) {
            for (std::uint32_t i = draw(round, ++place, 4); i > 0; --i)
                change(map, model, round, ++place);
            most_kept = std::max(most_kept, map.kept());
            const bool more = map.next_of_cut([&](const std::string& key, int value) {
                EXPECT_LT(last, key);
                last = key;
                seen[key] = value;
            });
            if (!more) break;
        }
        ASSERT_EQ(seen, expected) << "round " << round;
        EXPECT_EQ(map.kept(), 0U);
        map.end_cut();
        EXPECT_EQ(Model(map.begin(), map.end()), model);
    }
    EXPECT_GT(most_kept, 4U); // or nothing was put to the test
}

TEST(CutMap, WhatTheReaderHasPassedIsNotKept) {
    Map map;
    map.insert("a", 1);
    map.insert("b", 2);
    map.begin_cut();
    EXPECT_TRUE(map.next_of_cut([](const std::string&, int) {}));
    *map.change("a") = 5;
    map.erase("a");
    EXPECT_EQ(map.kept(), 0U);
    *map.change("b") = 6;
    *map.change("b") = 7;
    map.insert("c", 8);
    EXPECT_EQ(map.kept(), 2U);
    map.end_cut();
    EXPECT_EQ(map.kept(), 0U);
    EXPECT_EQ(*map.find("b"), 7);
}

TEST(CutMap, ACopyCarriesItsCut) {
    Map map;
    map.insert("a", 1);
    map.begin_cut();
    Map copy = map;
    *copy.change("a") = 2;
    int from_map = 0;
    int from_copy = 0;
    *map.change("a") = 3;
    EXPECT_TRUE(map.next_of_cut([&](const std::string&, int value) { from_map = value; }));
    EXPECT_TRUE(copy.next_of_cut([&](const std::string&, int value) { from_copy = value; }));
    EXPECT_EQ(from_map, 1);
    EXPECT_EQ(from_copy, 1);
    EXPECT_EQ(*map.find("a"), 3);
    EXPECT_EQ(*copy.find("a"), 2);
}

} // namespace
} // namespace promtact::kv
