// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Delta debugging. Source: Zeller, Hildebrandt, Simplifying and Isolating Failure-Inducing Input,
// IEEE Transactions on Software Engineering 28 (2002), section 3
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace promtact::sim {

/// A subset of the items that still fails and of which none can be left out alone, or what is
/// smallest when over() is true. fails(subset) is never asked about all.
template <class Item, class Fails, class Over>
std::vector<Item> minimise(std::vector<Item> items, Fails fails, Over over) {
    if (items.empty() || fails(std::vector<Item>{})) return {};
    std::size_t parts = 2;
    while (items.size() >= 2) {
        const std::size_t size = (items.size() + parts - 1) / parts;
        bool smaller = false;
        for (std::size_t begin = 0; begin < items.size() && !smaller; begin += size) {
            if (over()) return items;
            std::vector<Item> rest;
            for (std::size_t i = 0; i < items.size(); ++i)
                if (i < begin || i >= begin + size) rest.push_back(items[i]);
            if (rest.empty() || !fails(rest)) continue;
            items = std::move(rest);
            parts = std::max<std::size_t>(parts - 1, 2);
            smaller = true;
        }
        if (smaller) continue;
        if (size == 1) break;
        parts = std::min(parts * 2, items.size());
    }
    return items;
}

} // namespace promtact::sim
