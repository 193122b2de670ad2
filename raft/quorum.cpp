// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <algorithm>
#include <cstddef>
#include <functional>

#include <promtact/base/assert.hpp>
#include <promtact/raft/quorum.hpp>

namespace promtact::raft {

Index committed_index(std::span<Index> acknowledged) noexcept {
    if (acknowledged.empty()) return committed_everything;
    // In descending order the majority ends here: so many voters have at least this index.
    const std::size_t at = majority_of(acknowledged.size()) - 1;
    PROMTACT_ASSERT(at < acknowledged.size());
    const auto place = acknowledged.begin() + static_cast<std::ptrdiff_t>(at);
    std::nth_element(acknowledged.begin(), place, acknowledged.end(), std::greater<>());
    PROMTACT_DEBUG_ASSERT(
        std::count_if(acknowledged.begin(), acknowledged.end(), [place](Index index) {
            return index >= *place;
        }) > static_cast<std::ptrdiff_t>(at));
    return *place;
}

std::string_view to_string(VoteResult result) noexcept {
    switch (result) {
    case VoteResult::pending:
        return "pending";
    case VoteResult::won:
        return "won";
    case VoteResult::lost:
        return "lost";
    }
    return "unknown";
}

VoteResult vote_result(std::size_t voters, std::size_t yes, std::size_t no) noexcept {
    PROMTACT_ASSERT(yes <= voters);
    PROMTACT_ASSERT(no <= voters - yes);
    if (voters == 0) return VoteResult::won;
    const std::size_t needed = majority_of(voters);
    if (yes >= needed) return VoteResult::won;
    return voters - no < needed ? VoteResult::lost : VoteResult::pending;
}

VoteResult joint_vote_result(VoteResult incoming, VoteResult outgoing) noexcept {
    if (incoming == VoteResult::lost || outgoing == VoteResult::lost) return VoteResult::lost;
    PROMTACT_ASSERT(outgoing != VoteResult::lost);
    return incoming == VoteResult::won ? outgoing : incoming;
}

} // namespace promtact::raft
