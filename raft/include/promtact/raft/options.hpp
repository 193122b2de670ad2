// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What an owner decides about a core. Everything counts in ticks, entries and bytes: how long a
// tick lasts is the owner's.
#pragma once

#include <cstdint>

#include <promtact/base/result.hpp>
#include <promtact/base/units.hpp>
#include <promtact/raft/ids.hpp>

namespace promtact::raft {

struct Options {
    NodeId id = no_node;
    std::uint64_t seed = 0; // of the choices of timeouts; members may share it
    /// Different at every start of this member (a counter in the store, or random): it sets
    /// batches, reads and timeouts of this life apart from those of the lives before.
    std::uint32_t incarnation = 1;

    // Time, in ticks.
    std::uint32_t election_ticks = 10; // a timeout is drawn from [election_ticks, 2 *
                                       // election_ticks)
    std::uint32_t heartbeat_ticks = 2;
    /// Adds so many election_ticks to every timeout: members with 0 are preferred as leaders.
    std::uint32_t priority = 0;
    /// A leader whose oldest batch is not durable after so many ticks steps down, and nobody with
    /// such a batch stands for election. 0: never.
    std::uint32_t stall_ticks = 40;

    // Elections.
    bool pre_vote = true;
    /// The leader steps down when no quorum has answered for election_ticks, and nobody votes
    /// while it hears a leader. The same on all members.
    bool check_quorum = true;

    // Replication.
    std::uint32_t command_bytes_max = std::uint32_t{1} << 20;
    std::uint32_t append_entries_max = 256;
    std::uint32_t append_bytes_max = std::uint32_t{1} << 20; // one entry may be larger
    std::uint32_t inflight_messages = 16;                    // per follower
    std::uint64_t inflight_bytes = std::uint64_t{8} << 20;   // per follower
    std::uint64_t uncommitted_bytes_max = std::uint64_t{64} << 20;
    std::uint64_t apply_bytes_max = std::uint64_t{4} << 20; // handed out by one take()

    // Snapshots.
    std::uint32_t snapshot_chunk_bytes = std::uint32_t{256} << 10;
    std::uint64_t trailing_entries = 1024; // kept behind a snapshot for slow followers

    // Reads.
    std::uint32_t reads_max = std::uint32_t{1} << 16; // waiting at once
    /// A leader that a quorum answered lately reads without asking again. Linearizable only while
    /// no two members' clocks differ in speed by more than clock_drift. The same on all members.
    bool lease_reads = false;
    Ppm clock_drift{50'000};

    // Membership.
    std::uint64_t promotion_lag_max = 1024; // entries a learner may lack when it is made a voter

    // What cannot come from a correct member.
    std::uint64_t term_jump_max = std::uint64_t{1} << 32;
};

/// What an entry counts for besides its payload, so that empty commands have a bound, too.
inline constexpr std::uint64_t entry_cost = 16;

/// No index and no term goes beyond: adding one never overflows.
inline constexpr std::uint64_t number_max = std::uint64_t{1} << 62;

/// Errors: invalid_argument naming the field and its bounds.
Result<void> validate(const Options& options);

} // namespace promtact::raft
