// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <promtact/raft/output.hpp>

namespace promtact::raft {

std::string_view to_string(Failure failure) noexcept {
    switch (failure) {
    case Failure::leadership_lost:
        return "leadership_lost";
    case Failure::no_leader:
        return "no_leader";
    case Failure::timeout:
        return "timeout";
    case Failure::storage:
        return "storage";
    }
    return "unknown";
}

void Output::clear() noexcept {
    id = {};
    chunk.reset();
    installed.reset();
    entries.clear();
    hard_state.reset();
    messages.clear();
    apply.clear();
    reads.clear();
    failed_reads.clear();
    failed_proposals.clear();
    transfer.reset();
    received.reset();
    released = 0;
}

} // namespace promtact::raft
