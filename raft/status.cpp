// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/raft/counters.hpp>
#include <promtact/raft/status.hpp>

namespace promtact::raft {

std::string_view to_string(Role role) noexcept {
    switch (role) {
    case Role::follower:
        return "follower";
    case Role::pre_candidate:
        return "pre_candidate";
    case Role::candidate:
        return "candidate";
    case Role::leader:
        return "leader";
    }
    return "unknown";
}

std::string_view to_string(Fault fault) noexcept {
    switch (fault) {
    case Fault::none:
        return "none";
    case Fault::storage:
        return "storage";
    case Fault::committed_truncation:
        return "committed_truncation";
    case Fault::impossible_proof:
        return "impossible_proof";
    }
    return "unknown";
}

std::string_view to_string(ProposeStatus status) noexcept {
    switch (status) {
    case ProposeStatus::accepted:
        return "accepted";
    case ProposeStatus::not_leader:
        return "not_leader";
    case ProposeStatus::too_large:
        return "too_large";
    case ProposeStatus::overloaded:
        return "overloaded";
    case ProposeStatus::transferring:
        return "transferring";
    case ProposeStatus::not_ready:
        return "not_ready";
    case ProposeStatus::change_in_progress:
        return "change_in_progress";
    case ProposeStatus::invalid_change:
        return "invalid_change";
    case ProposeStatus::would_lose_quorum:
        return "would_lose_quorum";
    case ProposeStatus::learner_not_ready:
        return "learner_not_ready";
    case ProposeStatus::stopped:
        return "stopped";
    }
    return "unknown";
}

std::string_view to_string(ReadStatus status) noexcept {
    switch (status) {
    case ReadStatus::accepted:
        return "accepted";
    case ReadStatus::no_leader:
        return "no_leader";
    case ReadStatus::overloaded:
        return "overloaded";
    case ReadStatus::stopped:
        return "stopped";
    }
    return "unknown";
}

std::string_view to_string(TransferStatus status) noexcept {
    switch (status) {
    case TransferStatus::accepted:
        return "accepted";
    case TransferStatus::not_leader:
        return "not_leader";
    case TransferStatus::not_a_voter:
        return "not_a_voter";
    case TransferStatus::in_progress:
        return "in_progress";
    case TransferStatus::stopped:
        return "stopped";
    }
    return "unknown";
}

std::string_view to_string(Drop drop) noexcept {
    switch (drop) {
    case Drop::malformed:
        return "malformed";
    case Drop::impossible:
        return "impossible";
    case Drop::stranger:
        return "stranger";
    case Drop::leased:
        return "leased";
    case Drop::stale:
        return "stale";
    case Drop::stopped:
        return "stopped";
    }
    return "unknown";
}

} // namespace promtact::raft
