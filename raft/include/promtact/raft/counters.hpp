// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What has happened to a core. They decide nothing; campaigns use them to see where they have got.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace promtact::raft {

/// Why a message was dropped.
enum class Drop : std::uint8_t {
    malformed,  // fields that no member fills so: ids, ranges, kinds, order of entries
    impossible, // would need two leaders in a term, or entries that were never sent
    stranger,   // from outside of the configuration, while a leader of it is heard
    leased,     // a vote is asked for while a leader is heard
    stale,      // answers something that is over
    stopped,    // after a fault
};
inline constexpr std::size_t drops = 6;

std::string_view to_string(Drop drop) noexcept;

struct Counters {
    std::array<std::uint64_t, drops> dropped{};
    std::uint64_t pre_votes = 0; // rounds begun
    std::uint64_t elections = 0; // begun
    std::uint64_t leaderships = 0;
    std::uint64_t terms_learnt = 0;     // from an answer to a pre-vote
    std::uint64_t quorum_lost = 0;      // leaderships given up since nobody answered
    std::uint64_t stalls = 0;           // leaderships given up since the disk hung
    std::uint64_t transfers = 0;        // begun
    std::uint64_t transfers_failed = 0; // of those
    std::uint64_t appends_refused = 0;  // here, since the logs did not agree
    std::uint64_t truncations = 0;
    std::uint64_t entries_truncated = 0;
    std::uint64_t changes = 0;        // configurations appended by this leader
    std::uint64_t changes_undone = 0; // configurations truncated
    std::uint64_t joint_left = 0;     // by itself
    std::uint64_t retired = 0;        // leaderships given up since the leader was removed
    std::uint64_t snapshots_sent = 0; // begun
    std::uint64_t chunks_received = 0;
    std::uint64_t snapshots_resumed = 0; // at a place that is not the beginning
    std::uint64_t snapshots_installed = 0;
    std::uint64_t compactions = 0;
    std::uint64_t read_rounds = 0;
    std::uint64_t reads_answered = 0;
    std::uint64_t reads_by_lease = 0;
    std::uint64_t reads_forwarded = 0;
    std::uint64_t reads_failed = 0;
    std::uint64_t held = 0;                // messages that waited for a batch
    std::uint64_t held_dropped = 0;        // of those, overtaken by a new term
    std::uint64_t followers_regressed = 0; // refused what they had acknowledged
    std::uint64_t proposals_refused = 0;

    [[nodiscard]] std::uint64_t dropped_for(Drop why) const noexcept {
        return dropped[static_cast<std::size_t>(why)];
    }
};

} // namespace promtact::raft
