// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// The words a core answers with.
#pragma once

#include <cstdint>
#include <string_view>

#include <promtact/raft/ids.hpp>

namespace promtact::raft {

enum class Role : std::uint8_t { follower, pre_candidate, candidate, leader };

/// Why a core has stopped for good. A stopped core answers nothing; only opening it anew helps.
enum class Fault : std::uint8_t {
    none,
    storage,              // the store failed
    committed_truncation, // a leader wants a committed entry replaced: somebody has lost data
    impossible_proof,     // a proof of a batch that was never taken
};

/// What becomes of a proposal. Only `accepted` has put something into the log.
enum class ProposeStatus : std::uint8_t {
    accepted,
    not_leader,
    too_large,          // longer than command_bytes_max
    overloaded,         // uncommitted_bytes_max is reached
    transferring,       // leadership is being handed over
    not_ready,          // nothing is committed in this term yet (changes only)
    change_in_progress, // one change at a time
    invalid_change,     // see ChangeRefusal
    would_lose_quorum,  // the new voters that are reachable are no quorum
    learner_not_ready,  // a learner to be promoted lacks more than promotion_lag_max
    stopped,            // after a fault
};

struct ProposeResult {
    ProposeStatus status = ProposeStatus::accepted;
    Index index = 0; // of the entry, when accepted
    Term term = 0;
    NodeId leader = no_node; // to ask instead, when known

    [[nodiscard]] bool accepted() const noexcept { return status == ProposeStatus::accepted; }
    friend bool operator==(const ProposeResult&, const ProposeResult&) = default;
};

/// Whether a change of the members is done although it looks dangerous.
enum class Force : std::uint8_t { no, yes };

/// Whether a fingerprint knows how much time has passed.
enum class Timing : std::uint8_t { included, left_out };

/// What becomes of a read. Only `accepted` will be answered.
enum class ReadStatus : std::uint8_t { accepted, no_leader, overloaded, stopped };

enum class TransferStatus : std::uint8_t {
    accepted,
    not_leader,
    not_a_voter, // nor is the leader itself a target
    in_progress,
    stopped,
};

std::string_view to_string(Role role) noexcept;
std::string_view to_string(Fault fault) noexcept;
std::string_view to_string(ProposeStatus status) noexcept;
std::string_view to_string(ReadStatus status) noexcept;
std::string_view to_string(TransferStatus status) noexcept;

} // namespace promtact::raft
