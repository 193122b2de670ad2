// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// An ordered map that can be read as it was at one moment (the cut) while it goes on changing. What
// the reader has not reached yet is kept aside when it changes, so a cut costs memory only for what
// changes meanwhile. A copy of the map carries its cut along.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <promtact/base/assert.hpp>

namespace promtact::kv {

template <class Key, class Value>
class CutMap {
    using Map = std::map<Key, Value, std::less<>>;

  public:
    template <class K>
    [[nodiscard]] const Value* find(const K& key) const {
        const auto place = map_.find(key);
        return place == map_.end() ? nullptr : &place->second;
    }

    /// The value of the key, to be changed in place; nullptr without one.
    template <class K>
    [[nodiscard]] Value* change(const K& key) {
        const auto place = map_.find(key);
        if (place == map_.end()) return nullptr;
        keep(place->first, &place->second);
        return &place->second;
    }

    /// Requires: the key is not there
    template <class K>
    void insert(const K& key, Value value) {
        Key owned(key);
        keep(owned, nullptr);
        const bool inserted = map_.emplace(std::move(owned), std::move(value)).second;
        PROMTACT_ASSERT(inserted);
    }

    /// Requires: the key is there
    template <class K>
    void erase(const K& key) {
        const auto place = map_.find(key);
        PROMTACT_ASSERT(place != map_.end());
        keep(place->first, &place->second);
        map_.erase(place);
    }

    [[nodiscard]] std::size_t size() const noexcept { return map_.size(); }
    [[nodiscard]] auto begin() const noexcept { return map_.begin(); }
    [[nodiscard]] auto end() const noexcept { return map_.end(); }

    /// From now on the cut is the map of this moment. Requires: !cut()
    void begin_cut() {
        PROMTACT_ASSERT(!cut_);
        cut_ = true;
    }
    void end_cut() noexcept {
        cut_ = false;
        kept_.clear();
        reached_.reset();
    }
    [[nodiscard]] bool cut() const noexcept { return cut_; }

    /// Calls visit(key, value) with the next entry of the cut, in ascending order; false at its
    /// end. Requires: cut()
    template <class Visit>
    bool next_of_cut(const Visit& visit) {
        PROMTACT_ASSERT(cut_);
        while (true) {
            const auto now = reached_ ? map_.upper_bound(*reached_) : map_.begin();
            const auto kept = kept_.begin(); // what was reached is not in it any more
            const bool use_kept =
                kept != kept_.end() && (now == map_.end() || !(now->first < kept->first));
            if (!use_kept && now == map_.end()) return false;
            if (!use_kept) {
                visit(now->first, now->second);
                reached_ = now->first;
                return true;
            }
            const auto taken = kept_.extract(kept);
            reached_ = taken.key();
            if (!taken.mapped().has_value()) continue; // came only after the cut
            visit(taken.key(), *taken.mapped());
            return true;
        }
    }

    /// How many entries are kept aside.
    [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

  private:
    /// Before the entry changes. `value` is nullptr where the key is absent.
    void keep(const Key& key, const Value* value) {
        if (!cut_ || (reached_.has_value() && !(*reached_ < key))) return;
        if (kept_.contains(key)) return;
        kept_.emplace(
            key, value == nullptr ? std::optional<Value>() : std::optional<Value>(*value));
    }

    Map map_{};
    bool cut_ = false;
    std::optional<Key> reached_{};                            // the last key that was visited
    std::map<Key, std::optional<Value>, std::less<>> kept_{}; // above it, as at the cut
};

} // namespace promtact::kv
