// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Identifiers that cannot be mixed up: no arithmetic except moving by a count and measuring the
// distance.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

#include <promtact/base/assert.hpp>

namespace promtact {

/// An identifier of one kind. Declare one per concept:
///     using LogIndex = StrongId<struct LogIndexTag>;
/// id + count moves forward, id - count moves back, id - id is a count; nothing else compiles.
/// Leaving the range of the representation is an assertion, never a wrap.
template <class Tag, std::unsigned_integral Representation = std::uint64_t>
class StrongId {
  public:
    using Count = Representation;

    constexpr StrongId() = default;
    constexpr explicit StrongId(Representation value) noexcept : value_(value) {}

    [[nodiscard]] constexpr Representation value() const noexcept { return value_; }

    friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;

    friend constexpr StrongId operator+(StrongId id, Count count) noexcept {
        PROMTACT_ASSERT(count <= std::numeric_limits<Representation>::max() - id.value_);
        return StrongId(static_cast<Representation>(id.value_ + count));
    }
    friend constexpr StrongId operator-(StrongId id, Count count) noexcept {
        PROMTACT_ASSERT(count <= id.value_);
        return StrongId(static_cast<Representation>(id.value_ - count));
    }
    /// Requires: later >= earlier
    friend constexpr Count operator-(StrongId later, StrongId earlier) noexcept {
        PROMTACT_ASSERT(later.value_ >= earlier.value_);
        return static_cast<Count>(later.value_ - earlier.value_);
    }

  private:
    Representation value_ = 0;
};

} // namespace promtact
