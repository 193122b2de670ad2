// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sweep_shared_internal.hpp"

namespace promtact::sim {

/// The seed at an index of a sweep.
inline std::uint64_t seed_at(const SweepOptions& options, std::uint64_t index) noexcept {
    return options.first + index * options.shard.of + options.shard.index;
}

/// The body of a worker process: runs what is handed out and writes failures to the descriptor.
/// Returns when nothing is left.
void sweep_worker(
    const Protocol& protocol, const Scenario& scenario, const SweepOptions& options,
    const SweepShared& shared, std::uint32_t worker, int failures_fd);

/// Takes the failures from what a worker has written so far; the rest stays.
std::vector<SweepFailure> take_failures(std::string& bytes);

} // namespace promtact::sim
