// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Fates as data: kept from a run, given to another, or made boring one by one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <promtact/engine/fate.hpp>

namespace promtact::engine {

/// Every fate of a run that was not the boring one, by name.
using FateBook = std::map<FateKey, Fate>;

/// Keeps the fates of a run.
class FateRecorder final : public FateEditor {
  public:
    void edit(const FateKey& key, Fate& fate) override {
        if (!fate.is_neutral()) book_[key] = fate;
    }
    [[nodiscard]] const FateBook& book() const noexcept { return book_; }

  private:
    FateBook book_{};
};

/// Gives every message the fate that is written, and the boring one where nothing is: what the seed
/// says no longer counts.
class FateReplay final : public FateEditor {
  public:
    explicit FateReplay(FateBook book) : book_(std::move(book)) {}
    void edit(const FateKey& key, Fate& fate) override {
        const auto at = book_.find(key);
        fate = at == book_.end() ? Fate{} : at->second;
        if (at != book_.end()) ++matched_;
    }
    /// Written fates that no message asked for: how far the run is from the one that was recorded.
    [[nodiscard]] std::size_t unmatched() const noexcept { return book_.size() - matched_; }

  private:
    FateBook book_;
    std::size_t matched_ = 0;
};

/// Makes the named fates boring and leaves the others as they are.
class FateMuzzle final : public FateEditor {
  public:
    explicit FateMuzzle(std::set<FateKey> boring) : boring_(std::move(boring)) {}
    void edit(const FateKey& key, Fate& fate) override {
        if (boring_.count(key) > 0) fate = Fate{};
    }

  private:
    std::set<FateKey> boring_;
};

} // namespace promtact::engine
