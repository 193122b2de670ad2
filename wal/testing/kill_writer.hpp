// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A process that appends to a log until it is killed, and the loop that kills it again and again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "kill_ledger.hpp"

namespace promtact::wal::testing {

struct KillOptions {
    std::filesystem::path directory{};
    LogConfig config{};
    std::uint64_t cycles = 50;
    std::uint64_t seed = 1;
    /// The negative control: a writer that calls a record durable as soon as it was taken.
    bool acknowledges_at_once = false;
};

struct KillTally {
    std::uint64_t cycles = 0;
    std::uint64_t before_open = 0; // killed before the log was open
    std::uint64_t compared = 0;    // times the whole log was read and compared
    std::uint64_t acknowledged = 0;
    std::uint64_t unacknowledged = 0; // found without having been acknowledged
    std::uint64_t truncations = 0;
    std::uint64_t released = 0; // LSNs
    std::string complaint{};    // the first, with its cycle; empty: none
};

/// Starts a writer and kills it with SIGKILL, `cycles` times on one directory; ends at the first
/// complaint. Errors: unsupported, denied (the engine cannot be had here)
Result<KillTally> run_kill_loop(const KillOptions& options);

} // namespace promtact::wal::testing
