// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The most memory that was allocated at once while this object lives, beyond what was before. Link
// allocation_peak.cpp, which replaces the global operator new of the program.
#pragma once

#include <cstddef>

namespace promtact::wal::testing {

class AllocationPeak {
  public:
    AllocationPeak() noexcept;
    [[nodiscard]] std::size_t bytes() const noexcept;

  private:
    std::size_t before_;
};

} // namespace promtact::wal::testing
