// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// Which configuration holds at which index. One is in force as soon as its entry is in the log, and
// no longer once that entry is truncated.
// Source: Ongaro's dissertation §4.1 ("a server always uses the latest configuration in its log"),
// §5.1 (what a snapshot records).
#pragma once

#include <vector>

#include <promtact/raft/configuration.hpp>
#include <promtact/raft/ids.hpp>

namespace promtact::raft {

class ConfigurationLog {
  public:
    /// `base` holds from `index` on: that of a snapshot, or the first one.
    explicit ConfigurationLog(Index index = 0, Configuration base = {}) {
        reset(index, std::move(base));
    }

    [[nodiscard]] const Configuration& latest() const noexcept { return history_.back().value; }
    /// Index of the entry that brought latest().
    [[nodiscard]] Index latest_index() const noexcept { return history_.back().index; }
    /// What held at the index. Requires: index is not below the base
    [[nodiscard]] const Configuration& at(Index index) const noexcept;

    /// Requires: index > latest_index()
    void append(Index index, Configuration configuration);
    /// The entries behind `keep` are gone. True when another configuration is in force now.
    /// Requires: keep is not below the base
    bool truncate(Index keep);
    /// What held before `index` is asked for no longer.
    void compact(Index index);
    void reset(Index index, Configuration base);
    /// Adds all of it to the hash.
    void fold(TraceHash& hash) const;

  private:
    struct Version {
        Index index = 0;
        Configuration value{};
    };
    std::vector<Version> history_{}; // never empty, indexes rising
};

} // namespace promtact::raft
