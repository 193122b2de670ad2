// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include <string>

#include <promtact/raft/options.hpp>

namespace promtact::raft {
namespace {

Result<void>
between(const char* field, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return {};
    return Error{
        Errc::invalid_argument, 0,
        std::string("raft options: ") + field + " is " + std::to_string(value) + ", must be " +
            std::to_string(least) + " to " + std::to_string(most)};
}

} // namespace

Result<void> validate(const Options& o) {
    constexpr std::uint64_t bytes_most = std::uint64_t{1} << 31; // a block counts in 32 bits
    PROMTACT_TRY(between("id", o.id, 1, ~std::uint64_t{0}));
    PROMTACT_TRY(between("incarnation", o.incarnation, 1, ~std::uint32_t{0}));
    PROMTACT_TRY(between("election_ticks", o.election_ticks, 2, 1'000'000));
    PROMTACT_TRY(between("heartbeat_ticks", o.heartbeat_ticks, 1, o.election_ticks / 2));
    PROMTACT_TRY(between("priority", o.priority, 0, 100));
    PROMTACT_TRY(between("stall_ticks", o.stall_ticks, 0, 100'000'000));
    PROMTACT_TRY(between("command_bytes_max", o.command_bytes_max, 1, bytes_most / 2));
    PROMTACT_TRY(between("append_entries_max", o.append_entries_max, 1, 1U << 20));
    PROMTACT_TRY(between("append_bytes_max", o.append_bytes_max, 1, bytes_most / 2));
    PROMTACT_TRY(between("inflight_messages", o.inflight_messages, 1, 1U << 16));
    PROMTACT_TRY(between("inflight_bytes", o.inflight_bytes, 1, number_max));
    PROMTACT_TRY(between("uncommitted_bytes_max", o.uncommitted_bytes_max, 1, number_max));
    PROMTACT_TRY(between("apply_bytes_max", o.apply_bytes_max, 1, number_max));
    PROMTACT_TRY(between("snapshot_chunk_bytes", o.snapshot_chunk_bytes, 1, bytes_most));
    PROMTACT_TRY(between("trailing_entries", o.trailing_entries, 0, number_max));
    PROMTACT_TRY(between("reads_max", o.reads_max, 1, 1U << 24));
    PROMTACT_TRY(between("promotion_lag_max", o.promotion_lag_max, 0, number_max));
    PROMTACT_TRY(between("term_jump_max", o.term_jump_max, 1, number_max));
    PROMTACT_TRY(between("clock_drift", o.clock_drift.value, 0, Ppm::one / 2));
    if (o.lease_reads && !o.check_quorum) {
        return Error{
            Errc::invalid_argument, 0,
            "raft options: lease_reads needs check_quorum, whose promises a lease is made of"};
    }
    return {};
}

} // namespace promtact::raft
