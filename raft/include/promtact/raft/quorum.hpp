// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// What a set of voters has decided: how far the log is committed, how an election stands. Pure
// functions over any number of voters; nothing here allocates once the scratch has its size.
//
// A set without voters decides everything (committed_index is infinite, votes are won), so that a
// joint configuration that has left its outgoing half needs no case of its own.
// Source: Ongaro's dissertation §3.6.2 and §4.3.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <promtact/raft/ids.hpp>

namespace promtact::raft {

/// What an empty set has committed: more than any log holds.
inline constexpr Index committed_everything = std::numeric_limits<Index>::max();

/// How many of so many voters decide. Requires: voters >= 1
constexpr std::size_t majority_of(std::size_t voters) noexcept {
    return voters / 2 + 1;
}

/// The highest index that a majority has acknowledged, given what each voter has (0 for nothing).
/// Reorders the span. Complexity: linear on average.
Index committed_index(std::span<Index> acknowledged) noexcept;

/// The same with a function from voter to acknowledged index. Allocates only while scratch grows
/// to the number of voters.
template <class Acknowledged>
Index committed_index(
    std::span<const NodeId> voters, const Acknowledged& acknowledged, std::vector<Index>& scratch) {
    scratch.clear();
    for (const NodeId voter : voters)
        scratch.push_back(acknowledged(voter));
    return committed_index(std::span<Index>(scratch));
}

enum class VoteResult : std::uint8_t {
    pending, // the votes that are missing decide
    won,     // a majority said yes
    lost,    // a majority cannot say yes any more
};

/// "pending", "won" or "lost".
std::string_view to_string(VoteResult result) noexcept;

/// How an election among `voters` stands. Requires: yes + no <= voters
VoteResult vote_result(std::size_t voters, std::size_t yes, std::size_t no) noexcept;

/// The same with a function from voter to its answer, std::nullopt while there is none.
template <class Vote>
VoteResult vote_result(std::span<const NodeId> voters, const Vote& vote) {
    std::size_t yes = 0;
    std::size_t no = 0;
    for (const NodeId voter : voters) {
        const std::optional<bool> answer = vote(voter);
        if (answer.has_value()) ++(*answer ? yes : no);
    }
    return vote_result(voters.size(), yes, no);
}

/// What two sets decide together: lost when one has lost, won when both have won.
VoteResult joint_vote_result(VoteResult incoming, VoteResult outgoing) noexcept;

/// What two sets have committed together.
constexpr Index joint_committed_index(Index incoming, Index outgoing) noexcept {
    return std::min(incoming, outgoing);
}

} // namespace promtact::raft
