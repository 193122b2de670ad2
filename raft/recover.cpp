// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
//
// A member made of what its store found. A batch may have been written in part, so that entries of
// a term may be there before the term is, and a snapshot before the log is empty behind it: both
// are put right here, and everything else that does not fit together is refused.
#include <algorithm>
#include <string>
#include <utility>

#include <promtact/raft/configuration_entry.hpp>
#include <promtact/raft/core.hpp>

namespace promtact::raft {
namespace {

Error corrupt(std::string why) {
    return {Errc::corrupt, 0, "raft recovery: " + std::move(why)};
}

Result<void> check_entry(const Entry& entry, Index expected, Term before) {
    const std::string place = "entry " + std::to_string(entry.index);
    if (entry.index != expected)
        return corrupt(place + " where " + std::to_string(expected) + " was due");
    if (entry.term < before || entry.term == 0 || entry.term > number_max)
        return corrupt(
            place + " has term " + std::to_string(entry.term) + " after " + std::to_string(before));
    if (static_cast<std::uint8_t>(entry.kind) >= entry_kinds)
        return corrupt(place + " is of no known kind");
    if (entry.kind == EntryKind::noop && !entry.data.empty())
        return corrupt(place + " is a no-op with a payload");
    if (entry.kind != EntryKind::configuration) return {};
    const auto decoded = decode_configuration_entry(entry.data);
    if (!decoded) return corrupt(place + ": " + decoded.error().context);
    return {};
}

Result<void> check_entries(const std::vector<Entries>& runs) {
    Index expected = 0;
    Term before = 0;
    for (const Entries& run : runs) {
        for (const Entry& entry : run) {
            if (expected == 0) expected = entry.index;
            PROMTACT_TRY(check_entry(entry, expected, before));
            before = entry.term;
            ++expected;
        }
    }
    if (expected > number_max) return corrupt("the log is longer than numbers go");
    return {};
}

/// The recovered entries behind the snapshot, or an empty log when the snapshot was installed over
/// them.
Log make_log(const Recovered& recovered) {
    const SnapshotMeta& snapshot = recovered.snapshot;
    Log fresh(snapshot.index, snapshot.term);
    std::vector<Entries> runs = recovered.entries;
    std::erase_if(runs, [](const Entries& run) { return run.empty(); });
    if (runs.empty()) return fresh;
    const Entries& front = runs.front();
    if (runs.back().last() < snapshot.index) return fresh;
    // The term before the first entry is known only from the snapshot; otherwise the first entry
    // itself becomes the place before the log.
    const bool follows = front.first() == snapshot.index + 1;
    Log log(follows ? snapshot.index : front.first(), follows ? snapshot.term : front.term(0));
    for (const Entries& run : runs) {
        const bool cut = !follows && run.first() == front.first();
        const Entries rest = cut ? run.sub(1, run.size() - 1) : run;
        if (!rest.empty()) log.append(rest);
    }
    return log.matches(snapshot.index, snapshot.term) ? log : fresh;
}

} // namespace

Result<Core> Core::open(const Options& options, const Recovered& recovered) {
    PROMTACT_TRY(validate(options));
    const SnapshotMeta& snapshot = recovered.snapshot;
    const auto members = validate(snapshot.configuration);
    if (!members) return corrupt("snapshot: " + members.error().context);
    if ((snapshot.index == 0) != (snapshot.term == 0) || snapshot.index > number_max ||
        snapshot.term > number_max)
        return corrupt(
            "snapshot of index " + std::to_string(snapshot.index) + " and term " +
            std::to_string(snapshot.term));
    if (snapshot.index > 0 && snapshot.configuration.voters.empty())
        return corrupt("snapshot: nobody votes");
    PROMTACT_TRY(check_entries(recovered.entries));
    for (const Entries& run : recovered.entries) {
        if (run.empty()) continue;
        if (run.first() > snapshot.index + 1)
            return corrupt(
                "entries begin at " + std::to_string(run.first()) + ", the snapshot ends at " +
                std::to_string(snapshot.index));
        break;
    }
    if (recovered.hard.term > number_max) return corrupt("term beyond its bound");
    Core core(options, recovered);
    if (core.commit_ > core.log_.last())
        return corrupt(
            "commit index " + std::to_string(core.commit_) + " beyond the last entry " +
            std::to_string(core.log_.last()));
    return core;
}

Core::Core(const Options& options, const Recovered& recovered)
    : options_(options), log_(make_log(recovered)), snapshot_(recovered.snapshot) {
    std::vector<Entries> durable;
    log_.take_unsaved(1, durable);
    log_.saved(1);
    PROMTACT_ASSERT(log_.stable() == log_.last());
    // Entries of a term are there, the hard state that brought it is not: then no vote of that term
    // was ever promised.
    term_ = std::max({recovered.hard.term, log_.last_term(), snapshot_.term});
    if (term_ == recovered.hard.term) {
        vote_ = recovered.hard.vote;
    } else {
        hard_dirty_ = true;
        hard_batch_ = next_batch_;
    }
    configurations_.reset(snapshot_.index, snapshot_.configuration);
    for (const Entries& run : durable) {
        for (const Entry& entry : run) {
            if (entry.kind != EntryKind::configuration || entry.index <= snapshot_.index) continue;
            auto decoded = decode_configuration_entry(entry.data);
            configurations_.append(entry.index, std::move(decoded).value().configuration);
        }
    }
    applied_ = std::max(snapshot_.index, recovered.applied);
    commit_ = std::max(recovered.hard.commit, applied_);
    verified_ = commit_;
    guarded_ = options_.lease_reads;
    forward_number_ = std::uint64_t{options_.incarnation} << 32;
    if (recovered.partial && recovered.partial->meta.index > commit_ &&
        recovered.partial->bytes <= recovered.partial->meta.bytes) {
        incoming_ = Incoming{
            .from = recovered.partial->from,
            .meta = recovered.partial->meta,
            .received = recovered.partial->bytes};
        incoming_->whole = incoming_->received == incoming_->meta.bytes && incoming_->received > 0;
    }
    draw_timeout();
}

} // namespace promtact::raft
