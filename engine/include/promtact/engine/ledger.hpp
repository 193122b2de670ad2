// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What the nodes themselves may have forgotten: facts that, once seen, bind the whole rest of a
// run. Invariants keep these beside the cluster.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace promtact::engine {

/// A value per key that never changes: the leader of a term, the entry committed at an index.
template <class Key, class Value>
class Once {
  public:
    /// The value known before when it is another one; nothing when the fact is new or agrees.
    const Value* note(const Key& key, const Value& value) {
        const auto [at, added] = facts_.try_emplace(key, value);
        return added || at->second == value ? nullptr : &at->second;
    }
    [[nodiscard]] const Value* find(const Key& key) const {
        const auto at = facts_.find(key);
        return at == facts_.end() ? nullptr : &at->second;
    }
    [[nodiscard]] std::size_t size() const noexcept { return facts_.size(); }
    [[nodiscard]] auto begin() const noexcept { return facts_.begin(); }
    [[nodiscard]] auto end() const noexcept { return facts_.end(); }

  private:
    std::map<Key, Value> facts_{};
};

/// A value per key that never falls: a node's term, what it promised, what it committed.
template <class Key, class Value>
class Rising {
  public:
    /// The highest value seen before when this one is below it.
    const Value* note(const Key& key, const Value& value) {
        const auto [at, added] = highest_.try_emplace(key, value);
        if (added || !(value < at->second)) {
            at->second = value;
            return nullptr;
        }
        return &at->second;
    }
    /// Where a fall is allowed: a node that starts anew.
    void forget(const Key& key) { highest_.erase(key); }

  private:
    std::map<Key, Value> highest_{};
};

} // namespace promtact::engine
