// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What becomes of one message, decided when it is sent. A fate is a function of the seed, the link
// and the message's place on it, so a fault, a node or a feature that is added changes no other
// fate.
#pragma once

#include <cstdint>
#include <optional>

#include <promtact/base/choice.hpp>
#include <promtact/base/fault.hpp>
#include <promtact/base/scenario.hpp>

namespace promtact::engine {

/// Names one sending among all of a run.
struct FateKey {
    NodeId from{};
    NodeId to{};
    std::uint64_t position = 0; // see choice.h: send time and ordinal, or the index on the link
    friend auto operator<=>(const FateKey&, const FateKey&) = default;
};

/// What decided: a fault of the plan by its id, or one of these.
struct Cause {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    static constexpr std::uint32_t chance = none - 1;   // drop, max_delay or duplicate of the run
    static constexpr std::uint32_t injector = none - 2; // one written by the user
    static constexpr std::uint32_t editor = none - 3;   // a strategy, a replay or the shrinker
    std::uint32_t id = none;
    friend bool operator==(const Cause&, const Cause&) = default;
};

/// All fields at their defaults are the boring fate: it arrives at once, once, whole.
struct Fate {
    Cause lost{};
    std::uint64_t delay = 0; // steps
    Cause copied{};
    std::uint64_t copy_delay = 0;
    Cause corrupted{};
    std::uint64_t corrupt_bits = 0; // chooses what is damaged
    friend bool operator==(const Fate&, const Fate&) = default;

    [[nodiscard]] bool is_lost() const noexcept { return lost.id != Cause::none; }
    [[nodiscard]] bool is_copied() const noexcept { return copied.id != Cause::none; }
    [[nodiscard]] bool is_corrupted() const noexcept { return corrupted.id != Cause::none; }
    [[nodiscard]] bool is_neutral() const noexcept { return *this == Fate{}; }
};

/// Sees every fate before it is carried out, and may change it: recordings, replays, strategies and
/// the shrinker.
class FateEditor {
  public:
    FateEditor() = default;
    FateEditor(const FateEditor&) = delete;
    FateEditor& operator=(const FateEditor&) = delete;
    virtual ~FateEditor() = default;
    virtual void edit(const FateKey& key, Fate& fate) = 0;
};

/// The choices of a copy are apart from those of its original.
inline constexpr std::uint64_t copy_bit = std::uint64_t{1} << 63;

} // namespace promtact::engine
