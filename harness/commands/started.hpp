// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// When a recorded run began, by both clocks, and the part of its record that follows from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <promtact/base/clock.hpp>
#include <promtact/gates/record.hpp>

namespace promtact::harness {

class Started {
  public:
    Started();
    /// The run up to now. command: the word after promtact; words: what follows it.
    [[nodiscard]] gates::RunRecord
    finish(std::string_view command, std::span<const std::string> words, std::uint64_t seed) const;
    /// Seconds since 1970.
    [[nodiscard]] std::int64_t at() const noexcept { return at_; }
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

  private:
    std::int64_t at_;
    MonotonicClock clock_{};
    std::uint64_t from_;
};

} // namespace promtact::harness
