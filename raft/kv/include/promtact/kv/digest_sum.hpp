// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A digest of a set that follows its changes in constant time: the sum of the digests of its
// members, whatever their order.
#pragma once

#include <cstdint>

#include <promtact/base/trace_hash.hpp>

namespace promtact::kv {

/// Finds differences between replicas; it does not resist an adversary who chooses the members.
class DigestSum {
  public:
    void add(const Digest128& member) noexcept {
        sum_.high += member.high;
        sum_.low += member.low;
    }
    /// Requires: the member was added
    void remove(const Digest128& member) noexcept {
        sum_.high -= member.high;
        sum_.low -= member.low;
    }
    [[nodiscard]] const Digest128& value() const noexcept { return sum_; }

    friend bool operator==(const DigestSum&, const DigestSum&) = default;

  private:
    Digest128 sum_{};
};

} // namespace promtact::kv
