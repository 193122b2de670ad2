// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Fingerprints that were seen: one flat table, since a search holds millions of them.
#pragma once

#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include <promtact/base/assert.hpp>
#include <promtact/base/trace_hash.hpp>

namespace promtact::engine {

/// A set of 128-bit fingerprints. Open addressing; at most three quarters full.
class FingerprintSet {
  public:
    /// True when it was not there before.
    bool insert(const Digest128& fingerprint) {
        if (fingerprint == Digest128{}) return !std::exchange(has_zero_, true);
        if ((size_ + 1) * 4 > slots_.size() * 3) grow();
        if (!place(fingerprint)) return false;
        ++size_;
        return true;
    }
    [[nodiscard]] bool contains(const Digest128& fingerprint) const noexcept {
        if (fingerprint == Digest128{}) return has_zero_;
        return !slots_.empty() && slots_[slot_of(fingerprint)] == fingerprint;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_ + (has_zero_ ? 1 : 0); }

  private:
    /// Where the fingerprint is or belongs. An empty slot is all zero.
    [[nodiscard]] std::size_t slot_of(const Digest128& fingerprint) const noexcept {
        PROMTACT_ASSERT(std::has_single_bit(slots_.size()));
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>(fingerprint.low) & mask;
        while (slots_[at] != Digest128{} && slots_[at] != fingerprint)
            at = (at + 1) & mask;
        return at;
    }
    /// False when the fingerprint is there.
    bool place(const Digest128& fingerprint) noexcept {
        Digest128& slot = slots_[slot_of(fingerprint)];
        if (slot == fingerprint) return false;
        slot = fingerprint;
        return true;
    }
    void grow() {
        std::vector<Digest128> old(slots_.empty() ? 1024 : slots_.size() * 2);
        old.swap(slots_);
        for (const Digest128& fingerprint : old)
            if (fingerprint != Digest128{}) static_cast<void>(place(fingerprint));
    }

    std::vector<Digest128> slots_{};
    std::size_t size_ = 0; // without the zero
    bool has_zero_ = false;
};

} // namespace promtact::engine
